const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;
/** The used part of borrowed memory. The sender gives it back once the kernel has taken it. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;
/**
 * A buffer for one large answer, reused by the next: off-heap garbage would trigger full collections in V8. The borrower is
 * its only owner until `giveBack`, or for good.
 * @returns at least `bytes` bytes, uninitialized.
 */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Only when neither the caller nor a socket reads it any more. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}
