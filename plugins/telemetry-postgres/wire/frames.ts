/** Who is told of the server's messages: the body of one is `bytes` from `start` to `end`, and its head the five before. */
export interface Messages {
  /** False where it wants no more of them. */
  message(code: number, bytes: Buffer, start: number, end: number): boolean;
  /** What arrives cannot be read any further. */
  unreadable(why: 'too long' | 'not the protocol'): void;
}

/** Code and length, which counts itself. */
const headBytes = 5;

/** Cuts what arrives into messages where it lies: only one that comes in several pieces is copied, once. */
export class FrameReader {
  readonly #mostBytes: number;
  readonly #head = Buffer.alloc(headBytes);
  /** Of a message that has come in part: its head while that is not whole, else all of it. */
  #part = this.#head;
  #arrived = 0;

  /** @param mostBytes of one message, so that none fills the memory. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Answers how much of the chunk was read: not all of it where no more was wanted. */
  read(chunk: Buffer, to: Messages): number {
    let at = 0;
    if (this.#arrived > 0) {
      at = this.#fill(chunk, 0);
      if (this.#arrived < this.#part.length || (this.#part === this.#head && !this.#widen(to))) return chunk.length;
      if (this.#arrived < this.#part.length) {
        at = this.#fill(chunk, at);
        if (this.#arrived < this.#part.length) return chunk.length;
      }
      const whole = this.#part;
      this.#forget();
      if (!to.message(whole[0] ?? 0, whole, headBytes, whole.length)) return at;
    }
    while (at + headBytes <= chunk.length) {
      const bytes = 1 + uint32(chunk, at + 1);
      if (!this.#fits(bytes, to)) return chunk.length;
      const end = at + bytes;
      if (end > chunk.length) break;
      const start = at + headBytes;
      const code = chunk[at] ?? 0;
      at = end;
      if (!to.message(code, chunk, start, end)) return at;
    }
    if (at < chunk.length) this.#keep(chunk, at);
    return chunk.length;
  }

  #keep(chunk: Buffer, at: number): void {
    if (chunk.length - at >= headBytes) this.#part = Buffer.allocUnsafe(1 + uint32(chunk, at + 1));
    this.#fill(chunk, at);
  }

  #fill(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#part.length - this.#arrived);
    chunk.copy(this.#part, this.#arrived, at, end);
    this.#arrived += end - at;
    return end;
  }

  /** The head is whole: makes room for what comes after it. */
  #widen(to: Messages): boolean {
    const bytes = 1 + uint32(this.#head, 1);
    if (!this.#fits(bytes, to)) return false;
    this.#part = Buffer.allocUnsafe(bytes);
    this.#head.copy(this.#part);
    return true;
  }

  #fits(bytes: number, to: Messages): boolean {
    if (bytes >= headBytes && bytes <= this.#mostBytes) return true;
    this.#forget();
    to.unreadable(bytes < headBytes ? 'not the protocol' : 'too long');
    return false;
  }

  #forget(): void {
    this.#part = this.#head;
    this.#arrived = 0;
  }
}

export function uint32(bytes: Uint8Array, at: number): number {
  return int32(bytes, at) >>> 0;
}

export function int32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

export function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
