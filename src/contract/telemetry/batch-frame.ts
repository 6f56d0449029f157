import { tableNames, type ColumnType, type TableName } from './schema.ts';

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

export const magic = 0x31424c53; // 'SLB1'
export const headerBytes = 16;
export const kinds = [
  'timestamp',
  'int64',
  'float64',
  'boolean',
  'string',
  'json',
] as const satisfies readonly ColumnKind[];
export const encodings = [
  'fixed',
  'flags',
  'plain',
  'dictionary',
] as const satisfies readonly FrameColumn['encoding'][];
export const flagValid = 1;
export const flagAscii = 2;
export const flagConstant = 4;

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
export function codeWidth(entries: number): 0 | 1 | 2 | 4 {
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

export function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

function bytesOf(array: BigInt64Array | Codes): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function putU32(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, littleEndian);
}
