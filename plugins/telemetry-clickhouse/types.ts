import type { ColumnType, PhysicalColumns } from '../../src/contract/telemetry/index.ts';
import { literal, textOf, type Rows } from './quote.ts';

/**
 * Looks tables up by `database.table` or in the account's own database. Of a path with `{tenant}` the columns of one table
 * of that form stand for all.
 */
export function physicalColumns(rows: Rows): PhysicalColumns {
  return async (path) => {
    const at = path.indexOf('.');
    const database = at === -1 ? 'database = currentDatabase()' : named('database', path.slice(0, at));
    const found = await rows(
      `SELECT database, table, name, type FROM system.columns
         WHERE ${database} AND ${named('table', path.slice(at + 1))} ORDER BY database, table, position`,
    );
    const [first] = found;
    if (first === undefined) return undefined;
    const ofOne = found.filter((row) => row['database'] === first['database'] && row['table'] === first['table']);
    return new Map(ofOne.map(({ name, type }) => [textOf(name), textOf(type)]));
  };
}

/** The column is this name, or with `{tenant}` in it any name of that form. */
export function named(column: string, name: string): string {
  if (!name.includes('{tenant}')) return `${column} = ${literal(name)}`;
  const escaped = name.replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`).replaceAll('{tenant}', '[A-Za-z0-9_-]+');
  return `match(${column}, ${literal(`^${escaped}$`)})`;
}

export const time = "DateTime64(9, 'UTC')";
export const map = 'Map(String, String)';
export const event = `Tuple(time ${time}, name String, attributes ${map})`;
export const link = `Tuple(trace_id String, span_id String, trace_state String, attributes ${map})`;
export const exemplar = `Tuple(time ${time}, value Float64, trace_id String, span_id String, filtered_attributes ${map})`;
export const quantile = 'Tuple(quantile Float64, value Float64)';

/** ClickHouse's type of a logical column, as tables of our own have it. */
export const typeOf = {
  timestamp: time,
  string: 'String',
  int64: 'Int64',
  float64: 'Float64',
  boolean: 'Bool',
  map,
  'int64[]': 'Array(Int64)',
  'float64[]': 'Array(Float64)',
  events: `Array(${event})`,
  links: `Array(${link})`,
  exemplars: `Array(${exemplar})`,
  quantiles: `Array(${quantile})`,
} as const satisfies Record<ColumnType, string>;
