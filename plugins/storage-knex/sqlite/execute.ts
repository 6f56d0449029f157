import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ColumnValue } from '../rows.ts';
import { insertRows } from './many-rows.ts';

/** A statement as knex has written it, or of which the rows are given apart: see Scope.insertMany. */
export interface Statement {
  readonly sql: string;
  readonly bindings: readonly SQLInputValue[];
  readonly rows: readonly (readonly ColumnValue[])[] | undefined;
}

/** Rows, or what was changed. */
export type Answer = readonly object[] | Changes;

export interface Changes {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

export function execute(connection: DatabaseSync, { sql, bindings, rows }: Statement): Answer {
  if (rows !== undefined) return insertRows(connection, sql, rows);
  // The write lock is taken at once: a transaction that reads first and writes later cannot upgrade its lock when another
  // process has written in between, and waiting would not help it.
  const statement = connection.prepare(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql);
  return statement.columns().length > 0 ? statement.all(...bindings) : statement.run(...bindings);
}
