import type { PhysicalColumns } from '../../src/contract/telemetry/index.ts';
import { literal, textOf } from './quote.ts';
import type { Rows } from './quote.ts';

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

function named(column: string, name: string): string {
  if (!name.includes('{tenant}')) return `${column} = ${literal(name)}`;
  const escaped = name.replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`).replaceAll('{tenant}', '[A-Za-z0-9_-]+');
  return `match(${column}, ${literal(`^${escaped}$`)})`;
}
