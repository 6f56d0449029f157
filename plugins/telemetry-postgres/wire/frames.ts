import { Readable } from 'node:stream';
import { parse } from 'pg-protocol';

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

/** What the server says, by the first byte of the message. */
export const codes = {
  rowDescription: 0x54,
  dataRow: 0x44,
  portalSuspended: 0x73,
  commandComplete: 0x43,
  emptyQuery: 0x49,
  error: 0x45,
  readyForQuery: 0x5a,
  copyIn: 0x47,
  copyOut: 0x48,
  copyBoth: 0x57,
  copyData: 0x64,
} as const;

export interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** After a field's name: its table and place there, type, the type's size and modifier, and the format. */
const afterName = { type: 6, all: 18 };

/** The columns that a RowDescription names; undefined where it is none. */
export function fieldsOf(bytes: Buffer, start: number, end: number): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = start + 2;
  for (let left = uint16(bytes, start); left > 0; left -= 1) {
    const zero = bytes.indexOf(0, at);
    if (zero === -1 || zero + 1 + afterName.all > end) return undefined;
    fields.push({ name: bytes.toString('utf8', at, zero), dataTypeID: uint32(bytes, zero + 1 + afterName.type) });
    at = zero + 1 + afterName.all;
  }
  return fields;
}

/** `SELECT 1`, of a CommandComplete. */
export function tagOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end - 1);
}

const errors = new Readable({ read() {} });
let lastMade: unknown;
void parse(errors, (message) => {
  lastMade = message;
});

/** The driver's own error of a whole ErrorResponse, head and all. */
export function errorOf(frame: Buffer): Error {
  // Listeners run before `emit` returns.
  errors.emit('data', frame);
  const made = lastMade;
  lastMade = undefined;
  return made instanceof Error ? made : new Error('the server sent an error that cannot be read');
}
