import { writeFrame, type Codes, type FrameColumn, type Text } from './batch-frame.ts';
import { readFrame } from './read-frame.ts';
import type { TableName } from './schema.ts';

/** The batch as one frame (batch-frame.ts); strings that repeat are held once. */
export function encodeBatch(batch: TelemetryBatch): Uint8Array {
  return writeFrame({ table: batch.table, rows: batch.rows, columns: batch.columns.map(encodeColumn) });
}

/** Reads what `encodeBatch` wrote; FrameError for any other bytes. Numeric columns may lie on `bytes`: never write to it then. */
export function decodeBatch(bytes: Uint8Array): TelemetryBatch {
  const frame = readFrame(bytes);
  return { table: frame.table, rows: frame.rows, columns: frame.columns.map((column) => decodeColumn(column)) };
}

function encodeColumn(column: BatchColumn): FrameColumn {
  switch (column.kind) {
    case 'timestamp':
    case 'int64':
    case 'float64': {
      const { buffer, byteOffset, length } = column.values;
      const values = new BigInt64Array(buffer, byteOffset, length);
      const { kind, valid } = column;
      return valid === undefined ? { encoding: 'fixed', kind, values } : { encoding: 'fixed', kind, values, valid };
    }
    case 'boolean':
      return { encoding: 'flags', kind: 'boolean', values: column.values };
    case 'string':
    case 'json': {
      const dictionary = column.dictionary ?? findDictionary(column.values);
      if (dictionary === undefined) return { encoding: 'plain', kind: column.kind, entries: encodeText(column.values) };
      const entries = encodeText(dictionary.entries);
      return { encoding: 'dictionary', kind: column.kind, entries, codes: dictionary.codes };
    }
  }
}

/** Undefined where more than half of the strings differ: then a dictionary costs more than it saves. */
function findDictionary(values: readonly string[]): BatchDictionary | undefined {
  const codeOf = new Map<string, number>();
  const codes = new Uint32Array(values.length);
  for (const [row, value] of values.entries()) {
    let code = codeOf.get(value);
    if (code === undefined) {
      code = codeOf.size;
      if (code > 16 + row / 2) return undefined;
      codeOf.set(value, code);
    }
    codes[row] = code;
  }
  return { entries: [...codeOf.keys()], codes };
}

function encodeText(values: readonly string[]): Text {
  const offsets = new Uint32Array(values.length + 1);
  const joined = values.join('');
  const text = Buffer.from(joined, 'utf8');
  const ascii = text.length === joined.length;
  if (ascii) {
    let at = 0;
    for (const [index, value] of values.entries()) offsets[index + 1] = at += value.length;
    return { offsets, text, ascii };
  }
  // Encoded one by one: in a joined string, lone surrogates of two neighbours could form a pair.
  const parts = values.map((value) => Buffer.from(value, 'utf8'));
  let at = 0;
  for (const [index, part] of parts.entries()) offsets[index + 1] = at += part.length;
  return { offsets, text: Buffer.concat(parts), ascii };
}

function decodeColumn(column: FrameColumn): BatchColumn {
  switch (column.encoding) {
    case 'fixed': {
      const { kind, valid } = column;
      const { buffer, byteOffset, length } = column.values;
      const data =
        kind === 'float64'
          ? { kind, values: new Float64Array(buffer, byteOffset, length) }
          : { kind, values: column.values };
      return valid === undefined ? data : { ...data, valid };
    }
    case 'flags':
      return { kind: column.kind, values: column.values };
    case 'plain':
      return { kind: column.kind, values: decodeText(column.entries) };
    case 'dictionary': {
      const entries = decodeText(column.entries);
      const { kind, codes } = column;
      return { kind, values: lookUp(entries, codes), dictionary: { entries, codes } };
    }
  }
}

function lookUp(entries: readonly string[], codes: Codes): string[] {
  return Array.from(codes, (code) => entries[code] ?? '');
}

function decodeText({ offsets, text, ascii }: Text): string[] {
  const buffer = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  // One conversion and cheap slices of it, where bytes and characters count alike.
  const whole = ascii ? buffer.toString('latin1') : '';
  const values: string[] = [];
  let start = 0;
  for (let index = 1; index < offsets.length; index += 1) {
    const end = offsets[index] ?? start;
    values.push(ascii ? whole.slice(start, end) : buffer.toString('utf8', start, end));
    start = end;
  }
  return values;
}

/**
 * Rows on their way into a warehouse, column by column in the order of `otelTables[table].columns`. What the receiver
 * writes to its log is the encoded form of this, and a telemetry plugin gets the same bytes: nothing is encoded twice.
 */
export interface TelemetryBatch {
  readonly table: TableName;
  readonly rows: number;
  readonly columns: readonly BatchColumn[];
}

/** `valid[row] === 0` marks NULL; absent where the column is never NULL. */
export type BatchColumn =
  /** Epoch microseconds, UTC. */
  | { readonly kind: 'timestamp'; readonly values: BigInt64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'int64'; readonly values: BigInt64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'float64'; readonly values: Float64Array; readonly valid?: Uint8Array }
  | { readonly kind: 'boolean'; readonly values: Uint8Array }
  | { readonly kind: 'string'; readonly values: readonly string[]; readonly dictionary?: BatchDictionary }
  /** JSON text of a map, array or struct column; times inside are RFC 3339 with microseconds. */
  | { readonly kind: 'json'; readonly values: readonly string[]; readonly dictionary?: BatchDictionary };

/** `values[row] === entries[codes[row]]`, where few strings fill many rows: a loader may convert each entry once. */
interface BatchDictionary {
  readonly entries: readonly string[];
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
}
