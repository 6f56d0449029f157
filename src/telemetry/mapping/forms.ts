import type { LogicalColumn } from '../../contract/telemetry/index.ts';
import { givenOf, type Fit, type Seen, type SeenColumns, type Sql } from './seen.ts';
import { durationFit, momentFit } from './times.ts';
import { readings, wordFit } from './words.ts';

/** In digits of hexadecimal. */
const idLengths: Readonly<Record<string, number>> = { trace_id: 32, span_id: 16, parent_span_id: 16 };

/** Wrapping them would lose their indexes: only where a NULL was seen. */
const indexed: ReadonlySet<string> = new Set(['time', 'trace_id', 'service_name']);

/** Undefined where the column is as callers expect it. */
export function fitOf(column: LogicalColumn, seen: Seen, others: SeenColumns, sql: Sql): Fit | undefined {
  const { name, type } = column;
  const given = givenOf(seen.cells);
  if (type === 'timestamp') return momentFit(seen, given, sql);
  if (name === 'duration_nano') return durationFit(seen, others, sql);
  if (name in readings) {
    const fit = wordFit(column, seen, given, sql);
    return fit === 'as expected' ? textFit(column, seen, sql) : fit;
  }
  const digits = idLengths[name];
  if (digits !== undefined) return idFit(name, digits, seen, given, sql);
  if (type === 'map') return mapFit(seen, given, sql);
  if (type === 'string') return textFit(column, seen, sql);
  return seen.cells.includes(null) && column.nullable === undefined && (type === 'int64' || type === 'float64')
    ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` }
    : undefined;
}

function idFit(name: string, digits: number, seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const all = (form: RegExp) => given.length > 0 && given.every((cell) => form.test(cell));
  const zero = '0'.repeat(digits);
  const apart = (mend: string) =>
    (name === 'parent_span_id' && given.some((cell) => /^[0\\x-]+$/.test(cell))) ||
    (seen.nullable && !indexed.has(name)) ||
    seen.cells.includes(null)
      ? `coalesce(nullif(${mend}, '${zero}'), '')`
      : mend;
  const as = (found: string, mend: string): Fit => ({ found, mend: apart(mend) });
  if (seen.holds === 'integer') {
    const hex = sql.hex(seen.sql, 'integer');
    return as('numbers', digits === 16 ? hex : `lpad(${hex}, ${digits}, '0')`);
  }
  if (all(/^\\x/)) return as('bytes', sql.hex(seen.sql, 'bytes'));
  const dashed = new RegExp(String.raw`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`);
  if (digits === 32 && (seen.holds === 'uuid' || all(dashed))) {
    return as('UUIDs', `lower(replace(${sql.text(seen.sql)}, '-', ''))`);
  }
  if (all(new RegExp(`^[0-9A-Fa-f]{${digits}}$`))) {
    return given.some((cell) => cell !== cell.toLowerCase())
      ? as('upper-case ids', `lower(${seen.sql})`)
      : idText(name, zero, seen, given, sql);
  }
  if (all(digits === 32 ? /^[A-Za-z0-9+/]{22}==$/ : /^[A-Za-z0-9+/]{11}=$/)) {
    return as('ids in base64', sql.hex(seen.sql, 'base64'));
  }
  if (digits === 32 && all(/^[0-9a-f]{16}$/)) return as('ids of 16 digits', `lpad(${seen.sql}, 32, '0')`);
  const plain = idText(name, zero, seen, given, sql);
  if (given.length === 0) return plain;
  return { found: `ids that are not ${digits} hexadecimal digits, served as they are`, mend: plain?.mend ?? seen.sql };
}

/** Ids that are hexadecimal already: roots may still be told by NULL or zeros. */
function idText(name: string, zero: string, seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const text = seen.holds === 'text' ? seen.sql : sql.text(seen.sql);
  if (name === 'parent_span_id' && given.includes(zero)) {
    return { found: 'zeros for a root span', mend: `coalesce(nullif(${text}, '${zero}'), '')` };
  }
  return filledText(name, seen, text);
}

function textFit({ name, type }: LogicalColumn, seen: Seen, sql: Sql): Fit | undefined {
  if (type !== 'string') {
    if (seen.holds !== 'integer')
      return { mend: `CAST(coalesce(${seen.sql}, ${seen.holds === 'text' ? "'0'" : '0'}) AS BIGINT)` };
    return seen.cells.includes(null) ? { found: 'NULL in some rows', mend: `coalesce(${seen.sql}, 0)` } : undefined;
  }
  return filledText(name, seen, seen.holds === 'text' ? seen.sql : sql.text(seen.sql));
}

function filledText(name: string, seen: Seen, text: string): Fit | undefined {
  if (seen.cells.includes(null) || (seen.nullable && !indexed.has(name))) {
    const mend = `coalesce(${text}, '')`;
    return seen.cells.includes(null) ? { found: 'NULL in some rows', mend } : { mend };
  }
  return text === seen.sql ? undefined : { found: 'values that are no text', mend: text };
}

function mapFit(seen: Seen, given: readonly string[], sql: Sql): Fit | undefined {
  const { holds } = seen;
  if (given.length > 0 && given.every((cell) => /^\[\s*(\{\s*"key"|\])/.test(cell))) {
    return { found: 'lists of key and value', mend: sql.map(seen.sql, 'pairs') };
  }
  if (holds === 'typed map') return { found: 'values that are no text', mend: sql.map(seen.sql, holds) };
  if (given.some((cell) => !/^\s*\{/.test(cell))) return { found: 'values that are no map' };
  if (holds === 'text') return { found: 'JSON as text', mend: sql.map(seen.sql, 'text') };
  if (holds === 'json') return { found: 'JSON', mend: sql.map(seen.sql, 'json') };
  const mend = `coalesce(${seen.sql}, '{}')`;
  if (seen.cells.includes(null)) return { found: 'NULL in some rows', mend };
  return seen.nullable ? { mend } : undefined;
}
