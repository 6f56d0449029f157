import { isUtf8 } from 'node:buffer';
import {
  cutCell,
  type CellBudget,
  type CursorEnd,
  type QueryLimits,
  type ResultColumn,
  type RowChunk,
} from '../../../src/contract/telemetry/index.ts';
import { hasTime, shapeOf, type Shape } from './shape.ts';
import { RowWalk } from './walk.ts';

/** The engine failed after the first rows were sent, or the connection broke: the text is what came in place of a row. */
export class FailedMidway extends Error {
  override readonly name = 'FailedMidway';
}

/** A row too large to return, which would have to be buffered whole. */
export class RowTooLong extends Error {
  override readonly name = 'RowTooLong';
}

const longestRow = 16 << 20;

const longestFailure = 1 << 16;

const newline = 0x0a;

const comma = 0x2c;

/**
 * Turns the bytes of JSONCompactEachRowWithNamesAndTypes into the cursor's rows until a limit is met. Where the engine's
 * JSON is the contract's already, rows are passed on as they lie in the buffer.
 */
export class RowReader {
  columns: readonly ResultColumn[] | undefined;
  /** Once set, the rest is not wanted. */
  truncated: CursorEnd['truncated'];
  readonly #limits: QueryLimits;
  readonly #budget: CellBudget;
  #names: readonly string[] | undefined;
  #shapes: readonly Shape[] = [];
  #hasTimes = false;
  #hasFloats = false;
  /** The beginning of a row whose end has not come yet. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #failure: Buffer[] | undefined;
  #rows = 0;
  #bytes = 0;

  constructor(limits: QueryLimits) {
    this.#limits = limits;
    this.#budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  }

  get cutCells(): number {
    return this.#budget.cutCells;
  }

  /** The rows that end in this piece, which is the reader's from now on. */
  add(piece: Buffer): RowChunk | undefined {
    if (this.#failure !== undefined) return this.#fail(piece);
    if (piece.indexOf(newline) === -1) return this.#keep(piece);
    const bytes = this.#restBytes === 0 ? piece : Buffer.concat([...this.#rest, piece]);
    this.#rest = [];
    this.#restBytes = 0;
    let start = 0;
    while (this.columns === undefined) {
      const end = bytes.indexOf(newline, start);
      if (end === -1) return this.#keep(bytes.subarray(start));
      if (!isRow(bytes, start, end)) return this.#fail(bytes.subarray(start));
      this.#header(bytes.toString('utf8', start, end));
      start = end + 1;
    }
    return this.#take(bytes, start);
  }

  /** After the last piece. Throws FailedMidway where the result is not whole. */
  finish(): void {
    const text = Buffer.concat([...(this.#failure ?? []), ...this.#rest]).toString('utf8');
    if (text !== '' || this.columns === undefined) throw new FailedMidway(text);
  }

  #keep(bytes: Buffer): undefined {
    if (this.#restBytes + bytes.length > longestRow) throw new RowTooLong();
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
  }

  #fail(bytes: Buffer): undefined {
    this.#failure ??= [];
    if (this.#failure.length < 64) this.#failure.push(bytes.subarray(0, longestFailure));
  }

  #header(line: string): void {
    const strings: readonly string[] = JSON.parse(line);
    if (this.#names === undefined) {
      this.#names = strings;
      return;
    }
    this.columns = this.#names.map((name, index) => ({ name, type: strings[index] ?? '' }));
    this.#shapes = strings.map((type) => shapeOf(type));
    this.#hasTimes = this.#shapes.some((shape) => hasTime(shape));
    this.#hasFloats = this.#shapes.some((shape) => shape !== undefined);
  }

  #take(bytes: Buffer, from: number): RowChunk | undefined {
    const { maxRows, maxBytes, maxCellBytes } = this.#limits;
    const walked = this.#hasTimes || (this.#hasFloats && (bytes.includes('nan"') || bytes.includes('inf"')));
    const out = new Output(bytes);
    let start = from;
    for (;;) {
      const end = bytes.indexOf(newline, start);
      if (end === -1) break;
      if (!isRow(bytes, start, end)) {
        this.#fail(bytes.subarray(start));
        return out.chunk();
      }
      if (this.#rows === maxRows) {
        this.truncated = 'rows';
        return out.chunk();
      }
      const cutBefore = this.#budget.cutCells;
      // A row that is no longer than a cell may be has no cell that is too long.
      const text = walked || end - start > maxCellBytes ? this.#walk(bytes.toString('latin1', start, end)) : undefined;
      const length = (text === undefined ? end - start : text.length) + (this.#rows === 0 ? 0 : 1);
      if (this.#bytes + length > maxBytes) {
        this.#budget.cutCells = cutBefore;
        this.truncated = 'bytes';
        return out.chunk();
      }
      this.#rows += 1;
      this.#bytes += length;
      if (text === undefined) out.pass(start, end);
      else out.write(text);
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
    return out.chunk();
  }

  #walk(row: string): string {
    const walk = new RowWalk(row);
    let text = '';
    for (const [index, shape] of this.#shapes.entries()) {
      let cell = walk.cell(shape);
      if (cell.length > this.#limits.maxCellBytes) {
        cell = cutLatin1(cell, this.#budget);
      }
      text += index === 0 ? cell : `,${cell}`;
    }
    return `[${text}]`;
  }
}

/** JSON escapes newlines, so whatever else stands on a line is the engine's word on a failure. */
function isRow(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start] === 0x5b && bytes[end - 1] === 0x5d;
}

/** Rows joined by commas: runs copied from the input buffer, other rows re-encoded. */
class Output {
  readonly #bytes: Buffer;
  readonly #parts: Buffer[] = [];
  #rows = 0;
  #runStart = -1;
  #runEnd = -1;
  #text = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  pass(start: number, end: number): void {
    this.#rows += 1;
    if (this.#text !== '') this.#flush();
    if (this.#runStart === -1) this.#runStart = start;
    else this.#bytes[start - 1] = comma;
    this.#runEnd = end;
  }

  write(row: string): void {
    this.#rows += 1;
    if (this.#runStart !== -1) this.#flush();
    this.#text += this.#text === '' ? row : `,${row}`;
  }

  chunk(): RowChunk | undefined {
    this.#flush();
    if (this.#rows === 0) return undefined;
    const [first] = this.#parts;
    const json = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#joined());
    // A server that is not let validate what it writes passes on any bytes of a String.
    return { rows: this.#rows, json: isUtf8(json) ? json : Buffer.from(json.toString('utf8')) };
  }

  #flush(): void {
    if (this.#runStart !== -1) this.#parts.push(this.#bytes.subarray(this.#runStart, this.#runEnd));
    if (this.#text !== '') this.#parts.push(Buffer.from(this.#text, 'latin1'));
    this.#runStart = -1;
    this.#text = '';
  }

  #joined(): Buffer[] {
    return this.#parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.of(comma), part]));
  }
}

/** A cell's JSON (latin1) that is too long. */
function cutLatin1(json: string, budget: CellBudget): string {
  const text = Buffer.from(json, 'latin1').toString('utf8');
  const plain: unknown = json.startsWith('"') ? JSON.parse(text) : text;
  return Buffer.from(cutCell(String(plain), budget)).toString('latin1');
}
