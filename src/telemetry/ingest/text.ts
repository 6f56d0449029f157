import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { FrameColumn } from '../../contract/telemetry/batch-frame.ts';

const quote = 0x22;
const backslash = 0x5c;
const hexDigits = Buffer.from('0123456789abcdef', 'latin1');
/** What follows the backslash for a byte that JSON does not take as it is: 'u' for \u00XX, 0 for none. */
const escapes = new Uint8Array(0x100);
escapes.fill(0x75, 0, 0x20);
escapes[0x08] = 0x62;
escapes[0x09] = 0x74;
escapes[0x0a] = 0x6e;
escapes[0x0c] = 0x66;
escapes[0x0d] = 0x72;
escapes[quote] = quote;
escapes[backslash] = backslash;
/** Of a byte that is not ASCII. */
const wide = 1;
escapes.fill(wide, 0x80);

/**
 * UTF-8 under construction. The sender's bytes are copied to where they will be stored without becoming JavaScript strings
 * in between, which is what makes the receiver cheap; whatever is not UTF-8 becomes U+FFFD on the way.
 */
export class Utf8Writer {
  bytes: Uint8Array;
  length = 0;
  ascii = true;

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity);
  }

  clear(): void {
    this.length = 0;
    this.ascii = true;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length] = value;
    this.length += 1;
  }

  /** Text of our own: ASCII, and in need of no escape. */
  literal(text: string): void {
    const size = text.length;
    this.reserve(size);
    const at = this.length;
    for (let index = 0; index < size; index += 1) this.bytes[at + index] = text.charCodeAt(index);
    this.length = at + size;
  }

  /** The sender's text as it is. */
  text(source: Uint8Array, from: number, to: number): void {
    this.reserve(to - from);
    const bytes = this.bytes;
    let at = this.length;
    for (let index = from; index < to; index += 1) {
      const value = source[index] ?? 0;
      if (value >= 0x80) {
        const part = wellFormed(source, from, to);
        this.reserve(part.length);
        this.bytes.set(part, this.length);
        this.length += part.length;
        this.ascii = false;
        return;
      }
      bytes[at] = value;
      at += 1;
    }
    this.length = at;
  }

  /** The sender's text as the inside of a JSON string. */
  escaped(source: Uint8Array, from: number, to: number): void {
    this.reserve((to - from) * 6);
    const bytes = this.bytes;
    let at = this.length;
    for (let index = from; index < to; index += 1) {
      const value = source[index] ?? 0;
      const escape = escapes[value] ?? 0;
      if (escape === 0) {
        bytes[at] = value;
        at += 1;
      } else if (escape === wide) {
        this.ascii = false;
        return this.#escapedWide(wellFormed(source, from, to));
      } else at = putEscape(bytes, at, value, escape);
    }
    this.length = at;
  }

  quoted(source: Uint8Array, from: number, to: number): void {
    this.byte(quote);
    this.escaped(source, from, to);
    this.byte(quote);
  }

  hex(source: Uint8Array, from: number, to: number): void {
    this.reserve((to - from) * 2);
    let at = this.length;
    for (let index = from; index < to; index += 1) {
      const value = source[index] ?? 0;
      this.bytes[at] = hexDigits[value >> 4] ?? 0;
      this.bytes[at + 1] = hexDigits[value & 15] ?? 0;
      at += 2;
    }
    this.length = at;
  }

  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  #escapedWide(part: Uint8Array): void {
    this.reserve(part.length * 6);
    let at = this.length;
    for (const value of part) {
      const escape = escapes[value] ?? 0;
      if (escape === 0 || escape === wide) {
        this.bytes[at] = value;
        at += 1;
      } else at = putEscape(this.bytes, at, value, escape);
    }
    this.length = at;
  }
}

function putEscape(bytes: Uint8Array, at: number, value: number, escape: number): number {
  bytes[at] = backslash;
  bytes[at + 1] = escape;
  if (escape !== 0x75) return at + 2;
  bytes[at + 2] = 0x30;
  bytes[at + 3] = 0x30;
  bytes[at + 4] = hexDigits[value >> 4] ?? 0;
  bytes[at + 5] = hexDigits[value & 15] ?? 0;
  return at + 6;
}

function wellFormed(source: Uint8Array, from: number, to: number): Uint8Array {
  const part = source.subarray(from, to);
  return isUtf8(part) ? part : Buffer.from(Buffer.from(part).toString('utf8'), 'utf8');
}

/** The end of the longest prefix of at most `limit` bytes that cuts no character. */
export function cutEnd(source: Uint8Array, from: number, to: number, limit: number): number {
  if (to - from <= limit) return to;
  let end = from + limit;
  for (let back = 0; back < 3 && end > from && ((source[end] ?? 0) & 0xc0) === 0x80; back += 1) end -= 1;
  return end;
}

const hashSeed = randomBytes(4).readInt32LE();

/** FNV-1a from a secret start, so that a sender cannot choose texts that collide. */
export function hashText(bytes: Uint8Array, from: number, to: number): number {
  let hash = hashSeed;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

const tableSize = 1024;
const mostDistinct = 512;

/** A column of strings under construction: write into it, then `row` or `rowShared` takes what was written as the next row. */
export class TextColumn extends Utf8Writer {
  readonly kind: 'string' | 'json';
  #offsets = new Uint32Array(257);
  #codes = new Uint32Array(256);
  #entries = 0;
  #rows = 0;
  /** Rows and entries are the same, so codes say nothing. */
  #plain = true;
  /** Entry by hash, plus one; 0 is free. */
  readonly #table = new Uint16Array(tableSize);
  #distinct = 0;

  constructor(kind: 'string' | 'json') {
    super();
    this.kind = kind;
  }

  /** Bytes written since the last row. */
  get pending(): number {
    return this.length - this.pendingFrom;
  }

  /** Where what is written now begins. */
  get pendingFrom(): number {
    return this.#offsets[this.#entries] ?? 0;
  }

  drop(): void {
    this.length = this.pendingFrom;
  }

  /** The next row; no look for an equal one, as there is hardly any. */
  row(): void {
    this.code(this.entry());
  }

  /** The next row, held once with the equal ones before it. */
  rowShared(): void {
    let slot = hashText(this.bytes, this.pendingFrom, this.length) & (tableSize - 1);
    for (; ; slot = (slot + 1) & (tableSize - 1)) {
      const found = this.#table[slot] ?? 0;
      if (found === 0) break;
      if (!this.#equals(found - 1)) continue;
      this.drop();
      return this.code(found - 1);
    }
    const entry = this.entry();
    if (this.#distinct < mostDistinct && entry < 0xffff) {
      this.#table[slot] = entry + 1;
      this.#distinct += 1;
    }
    this.code(entry);
  }

  /** The next row from text of our own. */
  rowOf(text: string): void {
    this.literal(text);
    this.rowShared();
  }

  /** Keeps what was written for any number of rows to come, each by `code`. */
  entry(): number {
    this.#entries += 1;
    if (this.#entries >= this.#offsets.length) this.#offsets = doubled(this.#offsets);
    this.#offsets[this.#entries] = this.length;
    return this.#entries - 1;
  }

  code(entry: number): void {
    if (this.#rows >= this.#codes.length) this.#codes = doubled(this.#codes);
    if (entry !== this.#rows) this.#plain = false;
    this.#codes[this.#rows] = entry;
    this.#rows += 1;
  }

  /** The column so far, a view of this object's memory: write it out before `reset`. */
  finish(): FrameColumn {
    const offsets = this.#offsets.subarray(0, this.#entries + 1);
    const entries = { offsets, text: this.bytes.subarray(0, this.pendingFrom), ascii: this.ascii };
    if (this.#plain && this.#entries === this.#rows) return { encoding: 'plain', kind: this.kind, entries };
    return { encoding: 'dictionary', kind: this.kind, entries, codes: this.#codes.subarray(0, this.#rows) };
  }

  reset(): void {
    this.clear();
    this.#entries = 0;
    this.#rows = 0;
    this.#plain = true;
    this.#distinct = 0;
    this.#table.fill(0);
  }

  #equals(entry: number): boolean {
    const start = this.#offsets[entry] ?? 0;
    const size = (this.#offsets[entry + 1] ?? 0) - start;
    const from = this.pendingFrom;
    if (this.length - from !== size) return false;
    for (let index = 0; index < size; index += 1) {
      if (this.bytes[start + index] !== this.bytes[from + index]) return false;
    }
    return true;
  }
}

function doubled(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(words.length * 2);
  larger.set(words);
  return larger;
}
