import type { CellBudget, CursorEnd, QueryLimits, ResultColumn, RowChunk } from '../../src/contract/telemetry/index.ts';
import { cellWriter, type CellWriter } from './cells.ts';
import { typeOf, type CellKind } from './types.ts';
import { anyText, float, mostEscaped, plainText, time, verbatim } from './wire/cells.ts';
import { type Field, int32, uint16 } from './wire/frames.ts';

const [comma, open, close] = [0x2c, 0x5b, 0x5d];
const [nullText, trueText, falseText] = ['null', 'true', 'false'].map((text) => Buffer.from(text));
/** A cell becomes so much longer than it is on the wire with its length before it, where nothing of it is escaped. */
const cellSlack = 2;
/** A buffer of so little is a part of one that others share: a copy would keep no less of it. */
const sharedBytes = 1_024;
const none = Buffer.alloc(0);

interface Column {
  readonly kind: CellKind | 'array';
  /** By way of a string: what is rare, or has to be cut. */
  readonly write: CellWriter;
}

/** Rows of one result as JSON row arrays, until a limit is met. */
export class RowSerializer {
  readonly #limits: QueryLimits;
  readonly #budget: CellBudget;
  #cells: readonly Column[] = [];
  #chunk = none;
  #used = 0;
  #rows = 0;
  #count = 0;
  #bytes = 0;
  #expected = 0;
  #truncated: CursorEnd['truncated'];
  columns: readonly ResultColumn[] = [];

  constructor(limits: QueryLimits) {
    this.#limits = limits;
    this.#budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  }

  describe(fields: readonly Field[]): void {
    const types = fields.map(({ dataTypeID }) => typeOf(dataTypeID));
    this.columns = fields.map(({ name }, index) => ({ name, type: types[index]?.name ?? '' }));
    this.#cells = types.map((type) => ({
      kind: type.element === undefined ? type.kind : 'array',
      write: cellWriter(type, this.#budget),
    }));
  }

  get full(): boolean {
    return this.#truncated !== undefined;
  }

  get end(): CursorEnd {
    const { cutCells } = this.#budget;
    return this.#truncated === undefined ? { cutCells } : { truncated: this.#truncated, cutCells };
  }

  /** One more than may come, so that the last is known to be the last. */
  get wanted(): number {
    return this.#limits.maxRows - this.#count + 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get meanRowBytes(): number {
    return this.#count === 0 ? 0 : this.#bytes / this.#count;
  }

  /** So much will come at once: room is made for it once. */
  expect(bytes: number): void {
    this.#expected = bytes;
  }

  /** A row as the server sends it: how many cells, and each with its length before it. False where it is none of these columns. */
  add(row: Buffer, start: number, end: number): boolean {
    if (this.full) return true;
    if (this.#count >= this.#limits.maxRows) {
      this.#truncated = 'rows';
      return true;
    }
    if (uint16(row, start) !== this.#cells.length) return false;
    const cutBefore = this.#budget.cutCells;
    const first = this.#used + (this.#rows === 0 ? 0 : 1);
    this.#ensure(first, row, start, end);
    this.#chunk[first] = open;
    let at = first + 1;
    let from = start + 2;
    for (const cell of this.#cells) {
      const length = int32(row, from);
      from += 4;
      if (length > end - from) return false;
      if (length < 0) at = this.#copy(nullText, at);
      else {
        at = this.#add(cell, row, from, from + length, end, at);
        from += length;
      }
      this.#chunk[at] = comma;
      at += 1;
    }
    // In the place of the last comma, where there is one.
    if (at > first + 1) at -= 1;
    this.#chunk[at] = close;
    this.#taken(first, at + 1, cutBefore);
    return true;
  }

  take(): RowChunk | undefined {
    if (this.#rows === 0) return undefined;
    const [rows, filled] = [this.#rows, this.#chunk.subarray(0, this.#used)];
    this.#used = 0;
    this.#rows = 0;
    // It may be kept for long: what is much larger than what is in it is copied.
    if (this.#chunk.length > sharedBytes && filled.length < this.#chunk.length * 0.75) {
      return { rows, json: Buffer.from(filled) };
    }
    this.#chunk = none;
    return { rows, json: filled };
  }

  #taken(first: number, end: number, cutBefore: number): void {
    // The comma that joins it to the row before counts too.
    const bytes = end - first + (this.#count === 0 ? 0 : 1);
    if (this.#bytes + bytes > this.#limits.maxBytes) {
      this.#truncated = 'bytes';
      this.#budget.cutCells = cutBefore;
      return;
    }
    if (first > this.#used) this.#chunk[this.#used] = comma;
    this.#used = end;
    this.#rows += 1;
    this.#count += 1;
    this.#bytes += bytes;
  }

  /** @param rowEnd of all its cells: there is room for them as long as nothing is escaped. */
  #add(cell: Column, row: Buffer, start: number, end: number, rowEnd: number, at: number): number {
    const most = this.#limits.maxCellBytes;
    if (end - start <= most) {
      const written = this.#written(cell.kind, row, start, end, rowEnd, at);
      if (written !== -1 && written - at <= most) return written;
    }
    const text = cell.write(row.toString('utf8', start, end));
    // A UTF-16 unit is at most three bytes.
    this.#ensure(at + text.length * 3, row, end, rowEnd);
    return at + this.#chunk.write(text, at);
  }

  #written(kind: Column['kind'], row: Buffer, start: number, end: number, rowEnd: number, at: number): number {
    switch (kind) {
      case 'text': {
        const written = plainText(row, start, end, this.#chunk, at);
        if (written !== -1) return written;
        this.#ensure(at + (end - start) * mostEscaped + 2, row, end, rowEnd);
        return anyText(row, start, end, this.#chunk, at);
      }
      case 'number':
      case 'json':
        return verbatim(row, start, end, this.#chunk, at);
      case 'float':
        return float(row, start, end, this.#chunk, at);
      case 'time':
        return time(row, start, end, this.#chunk, at);
      case 'boolean':
        return this.#copy(row[start] === 0x74 ? trueText : falseText, at);
      default:
        return -1;
    }
  }

  #copy(text: Buffer | undefined, at: number): number {
    const bytes = text ?? none;
    for (let index = 0; index < bytes.length; index += 1) this.#chunk[at + index] = bytes[index] ?? 0;
    return at + bytes.length;
  }

  /** Room up to `at`, and for the cells of the row from `start` to `end`. */
  #ensure(at: number, row: Buffer, start: number, end: number): void {
    const needed = at + end - start + (this.#cells.length + 4) * cellSlack;
    if (needed > this.#chunk.length) this.#grow(needed, row.length - start);
  }

  #grow(needed: number, stillThere: number): void {
    // First of all for what has arrived.
    const first = Math.max(this.#expected * 1.05, stillThere) + sharedBytes / 8;
    const larger = Buffer.allocUnsafe(
      Math.ceil(Math.max(needed, this.#chunk.length === 0 ? first : this.#chunk.length * 2)),
    );
    this.#chunk.copy(larger);
    this.#expected = 0;
    this.#chunk = larger;
  }
}
