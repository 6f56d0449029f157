import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ColumnValue } from '../tables/table.ts';

/** More at once save nothing, and what is left over goes one by one. */
const rowsAStatement = 8;

/** As many as there are tables whose rows come in numbers, twice. They live and end with their connection. */
const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** By statements that stay prepared: to make one of all rows costs more than to insert them. Within a transaction. */
export function insertRows(
  connection: DatabaseSync,
  sql: string,
  rows: readonly (readonly ColumnValue[])[],
): { readonly changes: number; readonly lastInsertRowid: number } {
  if (!connection.isTransaction) throw new Error('many rows are inserted by a transaction, all or none');
  const width = rows[0]?.length ?? 0;
  const together = rows.length - (rows.length % rowsAStatement);
  const insert = (from: number, to: number, atOnce: number): void => {
    const statement = prepare(connection, sql, width, atOnce);
    for (let start = from; start < to; start += atOnce) statement.run(...valuesOf(rows, start, start + atOnce));
  };
  if (together > 0) insert(0, together, rowsAStatement);
  if (together < rows.length) insert(together, rows.length, 1);
  return { changes: rows.length, lastInsertRowid: 0 };
}

function prepare(connection: DatabaseSync, sql: string, width: number, rows: number): StatementSync {
  let statements = prepared.get(connection);
  if (statements === undefined) prepared.set(connection, (statements = new Map()));
  const key = `${rows} ${sql}`;
  let statement = statements.get(key);
  if (statement === undefined) {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`;
    statement = connection.prepare(`${sql} ${Array.from({ length: rows }, () => row).join(', ')}`);
    statements.set(key, statement);
  }
  return statement;
}

function valuesOf(rows: readonly (readonly ColumnValue[])[], start: number, end: number): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (let index = start; index < end; index += 1) {
    for (const value of rows[index] ?? []) values.push(typeof value === 'boolean' ? Number(value) : value);
  }
  return values;
}
