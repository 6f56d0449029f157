import {
  codeWidth,
  columnKind,
  encodings,
  flagAscii,
  flagConstant,
  flagValid,
  headerBytes,
  kinds,
  littleEndian,
  magic,
  padded,
  type Codes,
  type ColumnKind,
  type Frame,
  type FrameColumn,
  type Text,
} from './batch-frame.ts';
import { otelTables, tableNames, type LogicalColumn, type TableName } from './schema.ts';

/** The bytes are not a frame that this version wrote. */
export class FrameError extends Error {
  constructor(message: string) {
    super(`damaged batch: ${message}`);
    this.name = 'FrameError';
  }
}

/** More than any request can bring; a larger number in a frame is damage. */
const maxFrameRows = 1 << 20;

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

function getU32(view: DataView, at: number): number {
  return view.getUint32(at, littleEndian);
}
