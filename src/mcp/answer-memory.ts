const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;

/** The first bytes of borrowed memory: whoever sends them gives it back, if it can. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;

/**
 * Memory for one large answer. Answers follow one another, so that one piece serves them all: a new one each time would be
 * garbage outside of V8's heap, for which it collects all of the heap. Whoever has borrowed it is its only owner, until
 * `giveBack` or for good.
 * @returns at least so many bytes, with whatever was in them.
 */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Nobody reads it any more: not the caller, not a socket. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}
