import { otelTables, tableNames, type ColumnType, type LogicalColumn, type TableName } from './schema.ts';

/*
 * A batch as bytes, in the machine's own byte order, since a frame never leaves the machine:
 *
 *   u32 magic · u32 length of the whole frame · u8 table · u8 columns · u16 0 · u32 rows
 *   per column: u8 kind · u8 encoding · u8 flags · u8 bytes a code · u32 entries · u32 text bytes · u32 0, then
 *     fixed       8 bytes a row (one value if constant) · a validity byte a row if nullable
 *     flags       a byte a row (one if constant)
 *     plain       u32 offsets (rows + 1) · text
 *     dictionary  u32 offsets (entries + 1) · text · codes
 *
 * Every section starts at a multiple of eight, so that typed arrays lie on it without a copy.
 */

export type ColumnKind = 'timestamp' | 'int64' | 'float64' | 'boolean' | 'string' | 'json';
export type Codes = Uint8Array | Uint16Array | Uint32Array;

/** UTF-8 of several strings; entry i is text[offsets[i]..offsets[i + 1]]. */
export interface Text {
  readonly offsets: Uint32Array;
  readonly text: Uint8Array;
  /** Every byte is below 0x80, so byte offsets are string offsets. */
  readonly ascii: boolean;
}

export type FrameColumn =
  /** Eight bytes a row. */
  | {
      readonly encoding: 'fixed';
      readonly kind: 'timestamp' | 'int64' | 'float64';
      readonly values: BigInt64Array;
      readonly valid?: Uint8Array;
    }
  | { readonly encoding: 'flags'; readonly kind: 'boolean'; readonly values: Uint8Array }
  | { readonly encoding: 'plain'; readonly kind: 'string' | 'json'; readonly entries: Text }
  | {
      readonly encoding: 'dictionary';
      readonly kind: 'string' | 'json';
      readonly entries: Text;
      /** One a row. All of them are below the number of entries. */
      readonly codes: Codes;
    };

export interface Frame {
  readonly table: TableName;
  readonly rows: number;
  readonly columns: readonly FrameColumn[];
}

/** The bytes are not a frame that this version wrote. */
export class FrameError extends Error {
  constructor(message: string) {
    super(`damaged batch: ${message}`);
    this.name = 'FrameError';
  }
}

/** More than any request can bring; a larger number in a frame is damage. */
export const maxFrameRows = 1 << 20;

const magic = 0x31424c53; // 'SLB1'
const headerBytes = 16;
const kinds = ['timestamp', 'int64', 'float64', 'boolean', 'string', 'json'] as const satisfies readonly ColumnKind[];
const encodings = ['fixed', 'flags', 'plain', 'dictionary'] as const satisfies readonly FrameColumn['encoding'][];
const flagValid = 1;
const flagAscii = 2;
const flagConstant = 4;

/** How a logical type travels. */
export function columnKind(type: ColumnType): ColumnKind {
  switch (type) {
    case 'timestamp':
    case 'int64':
    case 'float64':
    case 'boolean':
    case 'string':
      return type;
    default:
      return 'json';
  }
}

export function writeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const plans = frame.columns.map((column) => plan(column));
  const all = plans.flatMap(({ sections }) => sections);
  const length = all.reduce((sum, section) => sum + padded(section.length), headerBytes * (plans.length + 1));
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  putU32(view, 0, magic);
  putU32(view, 4, length);
  bytes[8] = tableNames.indexOf(frame.table);
  bytes[9] = frame.columns.length;
  putU32(view, 12, frame.rows);
  let at = headerBytes;
  for (const { kind, encoding, flags, codeBytes, entries, textBytes, sections } of plans) {
    bytes[at] = kinds.indexOf(kind);
    bytes[at + 1] = encodings.indexOf(encoding);
    bytes[at + 2] = flags;
    bytes[at + 3] = codeBytes;
    putU32(view, at + 4, entries);
    putU32(view, at + 8, textBytes);
    at += headerBytes;
    for (const section of sections) {
      bytes.set(section, at);
      at += padded(section.length);
    }
  }
  return bytes;
}

interface ColumnPlan {
  readonly kind: ColumnKind;
  readonly encoding: FrameColumn['encoding'];
  readonly flags: number;
  readonly codeBytes: number;
  readonly entries: number;
  readonly textBytes: number;
  readonly sections: readonly Uint8Array[];
}

function plan(column: FrameColumn): ColumnPlan {
  const { kind, encoding } = column;
  if (encoding === 'fixed') {
    const constant = isConstant(column.values) && (column.valid === undefined || isConstant(column.valid));
    const values = constant ? column.values.subarray(0, 1) : column.values;
    const sections = [bytesOf(values)];
    if (column.valid !== undefined) sections.push(constant ? column.valid.subarray(0, 1) : column.valid);
    const flags = (constant ? flagConstant : 0) | (column.valid === undefined ? 0 : flagValid);
    return { kind, encoding, flags, codeBytes: 0, entries: 0, textBytes: 0, sections };
  }
  if (encoding === 'flags') {
    const constant = isConstant(column.values);
    const sections = [constant ? column.values.subarray(0, 1) : column.values];
    return { kind, encoding, flags: constant ? flagConstant : 0, codeBytes: 0, entries: 0, textBytes: 0, sections };
  }
  const { offsets, text, ascii } = column.entries;
  const flags = ascii ? flagAscii : 0;
  const entries = offsets.length - 1;
  if (encoding === 'plain') {
    return { kind, encoding, flags, codeBytes: 0, entries, textBytes: text.length, sections: [bytesOf(offsets), text] };
  }
  const codeBytes = codeWidth(entries);
  const sections = [bytesOf(offsets), text, bytesOf(narrowed(column.codes, codeBytes))];
  return { kind, encoding, flags, codeBytes, entries, textBytes: text.length, sections };
}

/** One entry needs no codes at all. */
function codeWidth(entries: number): 0 | 1 | 2 | 4 {
  if (entries <= 1) return 0;
  if (entries <= 0x100) return 1;
  return entries <= 0x10000 ? 2 : 4;
}

function narrowed(codes: Codes, width: 0 | 1 | 2 | 4): Codes {
  if (width === 0) return codes.subarray(0, 0);
  if (codes.BYTES_PER_ELEMENT === width) return codes;
  if (width === 1) return Uint8Array.from(codes);
  return width === 2 ? Uint16Array.from(codes) : Uint32Array.from(codes);
}

/** By bits, so that NaN equals itself and -0 is not 0. */
function isConstant(values: BigInt64Array | Uint8Array): boolean {
  if (values.length < 2) return false;
  // An unaligned BigInt64Array cannot exist, so the words lie on whole values.
  const words =
    values instanceof Uint8Array ? values : new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const step = values instanceof Uint8Array ? 1 : 2;
  for (let index = step; index < words.length; index += 1) if (words[index] !== words[index - step]) return false;
  return true;
}

/** Table and rows, without reading the columns. */
export function frameHeader(bytes: Uint8Array): { table: TableName; rows: number; columns: number } {
  if (bytes.length < headerBytes) throw new FrameError('shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (getU32(view, 0) !== magic) throw new FrameError('unknown format');
  if (getU32(view, 4) !== bytes.length) throw new FrameError('length does not match');
  const table = tableNames[bytes[8] ?? 255];
  const rows = getU32(view, 12);
  if (table === undefined) throw new FrameError('unknown table');
  if (rows > maxFrameRows) throw new FrameError('too many rows');
  return { table, rows, columns: bytes[9] ?? 0 };
}

/** Every length, offset and code is checked, so that what comes back can be trusted. The arrays may lie on `bytes`. */
export function readFrame(input: Uint8Array): Frame {
  const { table, rows, columns: count } = frameHeader(input);
  const logical: readonly LogicalColumn[] = otelTables[table].columns;
  const lacking = logical.slice(count);
  if (count > logical.length || !lacking.every(({ added }) => added)) {
    throw new FrameError('another number of columns');
  }
  const bytes = input.byteOffset % 8 === 0 ? input : new Uint8Array(input);
  const reader = new SectionReader(bytes);
  const columns = logical
    .slice(0, count)
    .map(({ type, nullable }) => readColumn(reader, rows, columnKind(type), nullable === true));
  if (!reader.atEnd) throw new FrameError('bytes after the last column');
  return { table, rows, columns: [...columns, ...lacking.map((column) => emptyColumn(column, rows))] };
}

/** Of a column that the version did not have which wrote the frame: NULL, or what stands for absent. */
function emptyColumn({ type, nullable }: LogicalColumn, rows: number): FrameColumn {
  const kind = columnKind(type);
  switch (kind) {
    case 'timestamp':
    case 'int64':
    case 'float64': {
      const values = new BigInt64Array(rows);
      return nullable
        ? { encoding: 'fixed', kind, values, valid: new Uint8Array(rows) }
        : { encoding: 'fixed', kind, values };
    }
    case 'boolean':
      return { encoding: 'flags', kind, values: new Uint8Array(rows) };
    case 'string':
    case 'json': {
      const text = Buffer.from(kind === 'string' ? '' : type === 'map' ? '{}' : '[]');
      const entries = { offsets: Uint32Array.of(0, text.length), text, ascii: true };
      return { encoding: 'dictionary', kind, entries, codes: new Uint8Array(rows) };
    }
  }
}

function readColumn(reader: SectionReader, rows: number, expected: ColumnKind, nullable: boolean): FrameColumn {
  const head = reader.take(headerBytes);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const kind = kinds[head[0] ?? 255];
  const encoding = encodings[head[1] ?? 255];
  const flags = head[2] ?? 0;
  const codeBytes = head[3] ?? 0;
  const entries = getU32(view, 4);
  const textBytes = getU32(view, 8);
  if (kind !== expected) throw new FrameError('a column of another kind');
  const constant = (flags & flagConstant) !== 0;
  const stored = constant ? 1 : rows;
  if (constant && rows === 0) throw new FrameError('a constant without rows');
  switch (kind) {
    case 'timestamp':
    case 'int64':
    case 'float64': {
      if (encoding !== 'fixed') break;
      const section = reader.take(stored * 8);
      let values = new BigInt64Array(section.buffer, section.byteOffset, stored);
      if (constant) values = new BigInt64Array(rows).fill(values[0] ?? 0n);
      if ((flags & flagValid) === 0) return { encoding, kind, values };
      if (!nullable) throw new FrameError('NULL in a column that has none');
      let valid = reader.take(stored);
      if (constant) valid = new Uint8Array(rows).fill(valid[0] ?? 0);
      return { encoding, kind, values, valid };
    }
    case 'boolean': {
      if (encoding !== 'flags') break;
      const section = reader.take(stored);
      return { encoding, kind, values: constant ? new Uint8Array(rows).fill(section[0] ?? 0) : section };
    }
    case 'string':
    case 'json': {
      const ascii = (flags & flagAscii) !== 0;
      if (encoding === 'plain') {
        if (entries !== rows) throw new FrameError('another number of strings');
        return { encoding, kind, entries: reader.text(entries, textBytes, ascii) };
      }
      if (encoding !== 'dictionary') break;
      if (entries > maxFrameRows || codeBytes !== codeWidth(entries))
        throw new FrameError('a dictionary out of bounds');
      const text = reader.text(entries, textBytes, ascii);
      return { encoding, kind, entries: text, codes: readCodes(reader, rows, codeBytes, entries) };
    }
  }
  throw new FrameError('a column of another encoding');
}

function readCodes(reader: SectionReader, rows: number, width: number, entries: number): Codes {
  const section = reader.take(rows * width);
  const codes =
    width === 0
      ? new Uint8Array(rows)
      : width === 1
        ? section
        : width === 2
          ? new Uint16Array(section.buffer, section.byteOffset, rows)
          : new Uint32Array(section.buffer, section.byteOffset, rows);
  for (const code of codes) if (code >= entries) throw new FrameError('a code without an entry');
  return codes;
}

class SectionReader {
  readonly #bytes: Uint8Array;
  #at = headerBytes;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Uint8Array {
    const end = this.#at + padded(length);
    if (end > this.#bytes.length) throw new FrameError('a section runs over the end');
    const section = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at = end;
    return section;
  }

  text(entries: number, textBytes: number, ascii: boolean): Text {
    const section = this.take((entries + 1) * 4);
    const offsets = new Uint32Array(section.buffer, section.byteOffset, entries + 1);
    const text = this.take(textBytes);
    let last = 0;
    for (const offset of offsets) {
      if (offset < last) throw new FrameError('offsets that go back');
      last = offset;
    }
    if (offsets[0] !== 0 || last !== textBytes) throw new FrameError('offsets beside their text');
    return { offsets, text, ascii };
  }
}

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

function bytesOf(array: BigInt64Array | Codes): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function putU32(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, littleEndian);
}

function getU32(view: DataView, at: number): number {
  return view.getUint32(at, littleEndian);
}
