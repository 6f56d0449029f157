import { isUtf8 } from 'node:buffer';
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  firstPrintable,
  openBrace,
  openBracket,
  quote,
  endOfCell,
} from '../../contract/core/json.ts';
import { MalformedRows, type RowSet } from './result.ts';

/** What a cut cell may be longer than the limit by: the mark that says so. */
const markAllowance = 128;

/** Writes a row again with its long cells cut and marked: the slow way, for a plugin that did not. */
function shortenRow(json: Uint8Array, maxCellBytes: number): { readonly json: Buffer; readonly cutCells: number } {
  const row = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const cells: string[] = [];
  let cutCells = 0;
  for (let end = 0; end < row.length - 1;) {
    const start = end + 1;
    end = endOfCell(row, start);
    const cell = row.subarray(start, end);
    if (cell.length <= maxCellBytes + markAllowance) {
      cells.push(cell.toString());
    } else {
      cutCells += 1;
      cells.push(shortenCell(cell, maxCellBytes));
    }
  }
  return { json: Buffer.from(`[${cells.join(',')}]`), cutCells };
}

function shortenCell(cell: Buffer, maxCellBytes: number): string {
  const value: unknown = JSON.parse(cell.toString());
  const text = typeof value === 'string' ? value : cell.toString();
  let keep = maxCellBytes;
  for (;;) {
    const start = text.slice(0, keep).replace(/[\ud800-\udbff]$/, '');
    const kept = JSON.stringify(`${start}…[${Buffer.byteLength(text) - Buffer.byteLength(start)} bytes cut]`);
    if (Buffer.byteLength(kept) <= maxCellBytes + markAllowance || keep === 0) return kept;
    keep = Math.floor(keep * 0.75);
  }
}

/** Byte classes as bits, so that one table look-up decides. */
const isQuote = 1;
const isBackslash = 2;
const isControl = 4;
/** Anything but 0-9 and a-f. */
const isNoHex = 8;
const kinds = new Uint8Array(256).map((_, byte) => {
  const hex = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
  const mark = byte === quote ? isQuote : byte === backslash ? isBackslash : byte < firstPrintable ? isControl : 0;
  return mark | (hex ? 0 : isNoHex);
});

/** Told of each cell as its row is scanned; the rows are not walked again for it. */
export interface CellWatch {
  /** Of the first columns, up to which it wants to see cells. */
  readonly columns: number;
  /** @param hex whether the cell is one string of nothing but 0-9 and a-f. */
  cell(column: number, bytes: Uint8Array, start: number, end: number, hex: boolean): void;
}

const unwatched: CellWatch = { columns: 0, cell: () => {} };

/** Gathers chunks of rows up to limits that hold whatever the plugin sends. */
export class RowCollector {
  readonly #limits: { readonly maxRows: number; readonly maxBytes: number; readonly maxCellBytes: number };
  readonly #parts: Uint8Array[] = [];
  readonly #ends: number[] = [];
  #cutCells = 0;
  #full: 'rows' | 'bytes' | undefined;
  /** Of the row last scanned. */
  #hasLongCell = false;
  /** Set before the first rows. */
  watch = unwatched;

  constructor(limits: { readonly maxRows: number; readonly maxBytes: number; readonly maxCellBytes: number }) {
    this.#limits = limits;
  }

  get rows(): number {
    return this.#ends.length;
  }

  get bytes(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** Cells that the plugin should have cut. */
  get cutCells(): number {
    return this.#cutCells;
  }

  /** The limit that the rows sent would have gone over; from then on nothing more is taken. */
  get full(): 'rows' | 'bytes' | undefined {
    return this.#full;
  }

  /** Takes the rows of a chunk that still fit. Throws MalformedRows. */
  add(sent: Uint8Array): void {
    // Some engines let any bytes stand in a text; what is answered is UTF-8.
    const chunk = isUtf8(sent) ? sent : Buffer.from(bufferOf(sent).toString());
    let runStart = 0;
    let runEnd = 0;
    for (let at = 0; at < chunk.length && this.#full === undefined;) {
      const end = this.#scanRow(chunk, at);
      if (end < chunk.length && (chunk[end] !== comma || end + 1 === chunk.length)) {
        throw new MalformedRows(`byte ${end} of a chunk: expected a comma and a row`);
      }
      if (this.#hasLongCell) {
        const short = shortenRow(chunk.subarray(at, end), this.#limits.maxCellBytes);
        if (!this.#admit(short.json.length)) break;
        this.#cutCells += short.cutCells;
        if (runEnd > runStart) this.#parts.push(chunk.subarray(runStart, runEnd));
        runStart = end + 1;
        runEnd = runStart;
        this.#parts.push(short.json);
      } else {
        if (!this.#admit(end - at)) break;
        runEnd = end;
      }
      at = end + 1;
    }
    if (runEnd > runStart) this.#parts.push(chunk.subarray(runStart, runEnd));
  }

  rowSet(): RowSet {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only !== undefined) return { json: bufferOf(only), ends: this.#ends };
    const json = Buffer.alloc(this.bytes, comma);
    let at = 0;
    for (const part of this.#parts) {
      json.set(part, at);
      at += part.length + 1;
    }
    return { json, ends: this.#ends };
  }

  #admit(length: number): boolean {
    const count = this.#ends.length;
    const end = count === 0 ? length : (this.#ends[count - 1] ?? 0) + 1 + length;
    if (count >= this.#limits.maxRows) this.#full = 'rows';
    else if (end > this.#limits.maxBytes) this.#full = 'bytes';
    else this.#ends.push(end);
    return this.#full === undefined;
  }

  /** Answers where the row that begins at `from` ends. */
  #scanRow(bytes: Uint8Array, from: number): number {
    if (bytes[from] !== openBracket) throw new MalformedRows(`byte ${from} of a chunk: expected a row`);
    const { length } = bytes;
    const { watch } = this;
    const longest = this.#limits.maxCellBytes + markAllowance;
    let hasLongCell = false;
    let depth = 1;
    let at = from + 1;
    let cell = at;
    let column = 0;
    /** Whether the last string of the cell is all hexadecimal, and where it began. */
    let hex = false;
    let text = -1;
    while (at < length) {
      const byte = bytes[at] ?? 0;
      at += 1;
      if (byte === quote) {
        text = at - 1;
        let seen = 0;
        for (;;) {
          // Past the end, treat the missing byte as a control character.
          const kind = at < length ? (kinds[bytes[at] ?? 0] ?? 0) : isControl;
          at += 1;
          if ((kind & (isQuote | isBackslash | isControl)) !== 0) {
            if ((kind & isQuote) !== 0) break;
            if (at > length) throw new MalformedRows('a chunk ends inside a string');
            if ((kind & isControl) !== 0) throw new MalformedRows('a control character inside a string');
            at += 1;
          }
          seen |= kind;
        }
        hex = (seen & isNoHex) === 0;
      } else if (byte === comma ? depth === 1 : byte === closeBracket && depth === 1) {
        if (at - 1 - cell > longest) hasLongCell = true;
        if (column < watch.columns && at - 1 > cell) watch.cell(column, bytes, cell, at - 1, hex && text === cell);
        if (byte === closeBracket) {
          this.#hasLongCell = hasLongCell;
          return at;
        }
        cell = at;
        column += 1;
      } else if (byte === openBracket || byte === openBrace) {
        depth += 1;
      } else if (byte === closeBracket || byte === closeBrace) {
        depth -= 1;
        if (depth === 0) throw new MalformedRows('a brace ends a row');
      } else if (byte < firstPrintable) {
        if (!isSpace(byte)) throw new MalformedRows('a control character between values');
      }
    }
    throw new MalformedRows('a chunk ends inside a row');
  }
}

/** JSON's white space, as far as it is a control character. */
function isSpace(byte: number): boolean {
  return byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
