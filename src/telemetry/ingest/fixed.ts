import type { FrameColumn } from '../../contract/telemetry/batch-frame.ts';

const twoTo32 = 0x1_0000_0000;
/** Word order of a 64-bit value in this machine's memory. */
const lowWord = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;

/** A column of eight-byte values under construction, written as pairs of words so that no BigInt is made for a row. */
export class FixedColumn {
  readonly kind: 'timestamp' | 'int64' | 'float64';
  readonly #nullable: boolean;
  #words: Uint32Array;
  #floats: Float64Array;
  #valid: Uint8Array;
  #rows = 0;
  #hasNull = false;

  constructor(kind: 'timestamp' | 'int64' | 'float64', nullable: boolean, capacity = 256) {
    this.kind = kind;
    this.#nullable = nullable;
    const memory = new ArrayBuffer(capacity * 8);
    this.#words = new Uint32Array(memory);
    this.#floats = new Float64Array(memory);
    this.#valid = new Uint8Array(nullable ? capacity : 0);
  }

  /** A whole number of at most 53 bits. */
  integer(value: number): void {
    const high = Math.floor(value / twoTo32);
    this.words(value - high * twoTo32, high);
  }

  words(low: number, high: number): void {
    const row = this.#next();
    this.#words[row * 2 + lowWord] = low;
    this.#words[row * 2 + 1 - lowWord] = high;
  }

  float(value: number): void {
    const row = this.#next();
    this.#floats[row] = value;
  }

  null(): void {
    const row = this.#next();
    this.#floats[row] = 0;
    this.#valid[row] = 0;
    this.#hasNull = true;
  }

  /** A view of this object's memory: write it out before `reset`. */
  finish(): FrameColumn {
    const values = new BigInt64Array(this.#words.buffer, 0, this.#rows);
    const column = { encoding: 'fixed', kind: this.kind, values } as const;
    return this.#hasNull ? { ...column, valid: this.#valid.subarray(0, this.#rows) } : column;
  }

  reset(): void {
    this.#rows = 0;
    this.#hasNull = false;
  }

  #next(): number {
    const row = this.#rows;
    if (row === this.#floats.length) this.#grow();
    if (this.#nullable) this.#valid[row] = 1;
    this.#rows = row + 1;
    return row;
  }

  #grow(): void {
    const memory = new ArrayBuffer(this.#words.byteLength * 2);
    const words = new Uint32Array(memory);
    words.set(this.#words);
    this.#words = words;
    this.#floats = new Float64Array(memory);
    if (!this.#nullable) return;
    const valid = new Uint8Array(this.#valid.length * 2);
    valid.set(this.#valid);
    this.#valid = valid;
  }
}

/** A column of true and false. */
export class FlagColumn {
  #values = new Uint8Array(256);
  #rows = 0;

  flag(value: boolean): void {
    if (this.#rows === this.#values.length) {
      const larger = new Uint8Array(this.#rows * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#rows] = value ? 1 : 0;
    this.#rows += 1;
  }

  finish(): FrameColumn {
    return { encoding: 'flags', kind: 'boolean', values: this.#values.subarray(0, this.#rows) };
  }

  reset(): void {
    this.#rows = 0;
  }
}
