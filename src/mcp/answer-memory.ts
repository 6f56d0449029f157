const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;
/** The used part of borrowed memory. The sender gives it back once the kernel has taken it. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;
/** At least `bytes`, uninitialized, the borrower's until `giveBack`: off-heap garbage triggers full collections. */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Only when neither the caller nor a socket reads it any more. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}
