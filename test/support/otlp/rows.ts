import { decodeBatch, otelTables } from '../../../src/contract/telemetry/index.ts';
import type { EncodedBatch } from '../../../src/telemetry/ingest/columns.ts';
import { type Signal } from '../../../src/telemetry/ingest/fields.ts';
import { decodeRequest, type Decoded, type Encoding } from '../../../src/telemetry/ingest/decode.ts';

export type Row = Readonly<Record<string, unknown>>;

/** The rows of batches, as objects by column name; NULL as null. */
export function rowsOf(batches: readonly Pick<EncodedBatch, 'frame'>[]): Row[] {
  return batches.flatMap(({ frame }) => framesRows(frame));
}

export function framesRows(frame: Uint8Array): Row[] {
  const { table, rows, columns } = decodeBatch(frame);
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      otelTables[table].columns.map(({ name }, index) => {
        const column = columns[index];
        if (column === undefined) throw new Error('a column is missing');
        const absent = 'valid' in column && column.valid[row] === 0;
        const value = column.values[row];
        return [name, absent ? null : column.kind === 'boolean' ? value === 1 : value];
      }),
    ),
  );
}

export function decode(
  signal: Signal,
  encoding: Encoding,
  body: Uint8Array,
  now: number,
): Extract<Decoded, { ok: true }> {
  const decoded = decodeRequest(signal, encoding, body, now);
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded;
}
