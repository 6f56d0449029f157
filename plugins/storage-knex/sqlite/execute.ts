import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ColumnValue } from '../rows.ts';
import { advanceAll } from './advance.ts';
import type { Advance, Advanced } from './advance.ts';
import { insertRows } from './many-rows.ts';

/** A statement as knex has written it, or of which the rows are given apart: see Scope.insertMany. */
export interface Statement {
  readonly sql: string;
  readonly bindings: readonly SQLInputValue[];
  readonly rows: readonly (readonly ColumnValue[])[] | undefined;
}

/** What a connection is asked to do: a statement, or advances in a transaction of their own. */
export type Task = Statement | { readonly advances: readonly Advance[] };

/** Rows, or what was changed, or what became of each advance. */
export type Answer = readonly object[] | Changes | { readonly advanced: readonly Advanced[] };

export interface Changes {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

export function execute(connection: DatabaseSync, task: Task): Answer {
  if ('advances' in task) return { advanced: advanceAll(connection, task.advances) };
  const { sql, bindings, rows } = task;
  if (rows !== undefined) return insertRows(connection, sql, rows);
  // The write lock is taken at once: a transaction that reads first and writes later cannot upgrade its lock when another
  // process has written in between, and waiting would not help it.
  const statement = connection.prepare(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql);
  return statement.columns().length > 0 ? statement.all(...bindings) : statement.run(...bindings);
}
