import { isUtf8 } from 'node:buffer';

/**
 * Serialized rows as they came from the engine: `[…],[…]` in UTF-8, and where each row ends. They are cut, kept and paged
 * by these offsets, so no row is parsed and written again.
 */
export interface RowSet {
  readonly json: Buffer;
  /** Offset just behind each row; the next one starts one comma later. */
  readonly ends: readonly number[];
}

/** The engine's plugin sent something that is not rows of JSON arrays. Never shown; the pipeline logs it. */
export class MalformedRows extends Error {
  override readonly name = 'MalformedRows';
}

/** What a cut cell may be longer than the limit by: the mark that says so. */
const markAllowance = 128;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const firstPrintable = 0x20;

/** What a byte may be, so that one look tells what is to be done about it. */
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
          // Behind the end there is no byte, and its kind would be that of a control character.
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
        if (column < watch.columns) watch.cell(column, bytes, cell, at - 1, hex && text === cell);
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

/** Position behind the closing quote of the string whose first character is at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
    else if (byte < firstPrintable) throw new MalformedRows('a control character inside a string');
  }
  throw new MalformedRows('a chunk ends inside a string');
}

export function rowSetOf(rows: readonly (readonly unknown[])[]): RowSet {
  const ends: number[] = [];
  let size = 0;
  const texts = rows.map((row) => {
    const text = Buffer.from(JSON.stringify(row));
    size += text.length + (ends.length === 0 ? 0 : 1);
    ends.push(size);
    return text;
  });
  const json = Buffer.alloc(size, ',');
  texts.forEach((text, index) => json.set(text, (ends[index] ?? 0) - text.length));
  return { json, ends };
}

/** How many rows from `offset` on fit both limits, and which limit stopped them. */
export function fit(
  rows: RowSet,
  offset: number,
  limits: { readonly maxRows: number; readonly maxBytes: number },
): { readonly count: number; readonly stoppedBy?: 'rows' | 'bytes' } {
  const base = startOf(rows, offset);
  const all = rows.ends.length - offset;
  if (all <= limits.maxRows && (rows.ends.at(-1) ?? 0) - base <= limits.maxBytes) return { count: Math.max(0, all) };
  let count = 0;
  for (let row = offset; row < rows.ends.length; row += 1) {
    if (count >= limits.maxRows) return { count, stoppedBy: 'rows' };
    if ((rows.ends[row] ?? 0) - base > limits.maxBytes) return { count, stoppedBy: 'bytes' };
    count += 1;
  }
  return { count };
}

/** `count` rows from `offset` on, a view of the same memory. */
export function slice(rows: RowSet, offset: number, count: number): RowSet {
  if (count === 0) return { json: Buffer.alloc(0), ends: [] };
  const base = startOf(rows, offset);
  const ends = rows.ends.slice(offset, offset + count).map((end) => end - base);
  const json = rows.json.subarray(base, base + (ends.at(-1) ?? 0));
  return { json, ends };
}

/** The text of one row. */
export function rowText(rows: RowSet, row: number): string {
  return rows.json.toString('utf8', startOf(rows, row), rows.ends[row]);
}

function startOf(rows: RowSet, row: number): number {
  return row === 0 ? 0 : (rows.ends[row - 1] ?? 0) + 1;
}

/** Calls back with where each cell begins and ends, or those in `wanted` columns; a false answer ends the walk. */
export function eachCell(
  rows: RowSet,
  visit: (start: number, end: number, column: number, row: number) => boolean,
  wanted: (column: number) => boolean = () => true,
): void {
  for (let row = 0; row < rows.ends.length; row += 1) {
    const end = (rows.ends[row] ?? 0) - 1;
    let at = startOf(rows, row) + 1;
    let cell = at;
    let depth = 0;
    let column = 0;
    while (at < end) {
      const byte = rows.json[at];
      at += 1;
      if (byte === quote) at = endOfString(rows.json, at);
      else if (byte === openBracket || byte === openBrace) depth += 1;
      else if (byte === closeBracket || byte === closeBrace) depth -= 1;
      else if (byte === comma && depth === 0) {
        if (wanted(column) && !visit(cell, at - 1, column, row)) return;
        cell = at;
        column += 1;
      }
    }
    if (end > cell && wanted(column) && !visit(cell, end, column, row)) return;
  }
}

/** Writes a row again with its long cells cut and marked: the slow way, for a plugin that did not. */
function shortenRow(json: Uint8Array, maxCellBytes: number): { readonly json: Buffer; readonly cutCells: number } {
  const row = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const cells: string[] = [];
  let cutCells = 0;
  eachCell({ json: row, ends: [row.length] }, (start, end) => {
    const cell = row.subarray(start, end);
    if (cell.length <= maxCellBytes + markAllowance) {
      cells.push(cell.toString());
    } else {
      cutCells += 1;
      cells.push(shortenCell(cell, maxCellBytes));
    }
    return true;
  });
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
