import { encodeBatch, otelTables } from '../../../contract/telemetry/index.ts';
import type { BatchColumn, ColumnType, TableName } from '../../../contract/telemetry/index.ts';

/** Rows as a cursor serializes them (contract/telemetry.ts), in the order of the table's columns, as the receiver encodes its own. */
export function encodeRows(table: TableName, rows: readonly (readonly unknown[])[]): Uint8Array {
  const columns = otelTables[table].columns.map(({ type }, index) =>
    columnOf(
      type,
      rows.map((row) => row[index]),
    ),
  );
  return encodeBatch({ table, rows: rows.length, columns });
}

function columnOf(type: ColumnType, cells: readonly unknown[]): BatchColumn {
  const valid = cells.includes(null) ? { valid: Uint8Array.from(cells, (cell) => (cell === null ? 0 : 1)) } : {};
  switch (type) {
    case 'timestamp':
      return { kind: 'timestamp', values: BigInt64Array.from(cells, (cell) => micros(cell)), ...valid };
    case 'int64':
      return { kind: 'int64', values: BigInt64Array.from(cells, (cell) => BigInt(text(cell, '0'))), ...valid };
    case 'float64':
      return { kind: 'float64', values: Float64Array.from(cells, (cell) => Number(cell ?? 0)), ...valid };
    case 'boolean':
      return { kind: 'boolean', values: Uint8Array.from(cells, (cell) => (cell === true ? 1 : 0)) };
    case 'string':
      return { kind: 'string', values: cells.map((cell) => text(cell, '')) };
    case 'map':
    case 'int64[]':
    case 'float64[]':
    case 'events':
    case 'links':
    case 'quantiles':
      return { kind: 'json', values: cells.map((cell) => JSON.stringify(cell ?? (type === 'map' ? {} : []))) };
  }
}

/** Of an RFC 3339 time in UTC, to the microsecond. */
function micros(cell: unknown): bigint {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d{1,6})\d*)?Z$/.exec(text(cell, '1970-01-01T00:00:00Z')) ?? [];
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000n + BigInt(fraction.padEnd(6, '0'));
}

function text(cell: unknown, absent: string): string {
  if (cell === null || cell === undefined) return absent;
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}
