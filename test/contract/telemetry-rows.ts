import {
  encodeBatch,
  otelTables,
  type BatchColumn,
  type LogicalColumn,
  type TableName,
} from '../../src/contract/telemetry/index.ts';

/** Values by column name; what is missing is empty. Times are dates, nested values are what their JSON says. */
export type Row = Readonly<Record<string, unknown>>;

/** Encodes rows as the receiver does. */
export function batch(table: TableName, rows: readonly Row[]): Uint8Array {
  const columns = otelTables[table].columns.map((column) =>
    columnOf(
      column,
      rows.map((row) => row[column.name]),
    ),
  );
  return encodeBatch({ table, rows: rows.length, columns });
}

function columnOf(column: LogicalColumn, values: readonly unknown[]): BatchColumn {
  const valid = column.nullable
    ? { valid: Uint8Array.from(values, (value) => (value === undefined ? 0 : 1)) }
    : undefined;
  switch (column.type) {
    case 'timestamp':
      return { kind: 'timestamp', values: BigInt64Array.from(values, micros), ...valid };
    case 'int64':
      return { kind: 'int64', values: BigInt64Array.from(values, integer), ...valid };
    case 'float64':
      return { kind: 'float64', values: Float64Array.from(values, (value) => Number(value ?? 0)), ...valid };
    case 'boolean':
      return { kind: 'boolean', values: Uint8Array.from(values, (value) => (value === true ? 1 : 0)) };
    case 'string':
      return { kind: 'string', values: values.map((value) => (typeof value === 'string' ? value : '')) };
    case 'map':
      return { kind: 'json', values: values.map((value) => jsonText(value ?? {})) };
    default:
      return { kind: 'json', values: values.map((value) => jsonText(value ?? [])) };
  }
}

/** A string is JSON text already, which may be broken on purpose. */
function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Text where JavaScript would round a number. */
function integer(value: unknown): bigint {
  return typeof value === 'string' ? BigInt(value) : BigInt(Number(value ?? 0));
}

function micros(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return value instanceof Date ? BigInt(value.getTime()) * 1_000n : 0n;
}
