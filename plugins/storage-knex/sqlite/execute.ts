import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ColumnValue } from '../tables.ts';
import { requireInPlace } from './open.ts';

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

/** A statement as knex wrote it. With `rows`, its values are given apart: see Scope.insertMany. */
interface Statement {
  readonly sql: string;
  readonly bindings: readonly SQLInputValue[];
  readonly rows: readonly (readonly ColumnValue[])[] | undefined;
}

/** A conditional update of one row, and rows that are inserted only if it changed that row. */
export interface Append {
  readonly move: Pick<Statement, 'sql' | 'bindings'>;
  readonly insert: { readonly sql: string; readonly rows: NonNullable<Statement['rows']> };
}

export type Appended = { readonly moved: boolean } | { readonly failure: Failure };

/** One statement, or a batch of appends in a transaction of its own. */
export type Task = Statement | { readonly appends: readonly Append[] };

export type Answer = readonly object[] | Changes | { readonly appended: readonly Appended[] };

interface Changes {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

export function execute(connection: DatabaseSync, task: Task): Answer {
  if ('appends' in task) return { appended: appendAll(connection, task.appends) };
  const { sql, bindings, rows } = task;
  if (rows !== undefined) return insertRows(connection, sql, rows);
  // The write lock is taken at once: a transaction that reads first and writes later cannot upgrade its lock when another
  // process has written in between, and waiting would not help it.
  const statement = connection.prepare(sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : sql);
  const answer = statement.columns().length > 0 ? statement.all(...bindings) : statement.run(...bindings);
  if (sql === 'COMMIT;') requireInPlace(connection);
  return answer;
}

/** One transaction with a savepoint for each append: a failing append does not affect the others. */
function appendAll(connection: DatabaseSync, appends: readonly Append[]): readonly Appended[] {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const appended = appends.map((each) => append(connection, each));
    connection.exec('COMMIT');
    requireInPlace(connection);
    return appended;
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function append(connection: DatabaseSync, { move, insert }: Append): Appended {
  connection.exec('SAVEPOINT append');
  try {
    const moved = connection.prepare(move.sql).run(...move.bindings).changes > 0;
    if (moved) insertRows(connection, insert.sql, insert.rows);
    connection.exec('RELEASE append');
    return { moved };
  } catch (error) {
    // A full disk rolls back the whole transaction.
    if (!connection.isTransaction) throw error;
    connection.exec('ROLLBACK TO append; RELEASE append');
    return { failure: failureOf(error) };
  }
}

/** What an error of the driver or of the operating system is told by, also on another thread. */
export interface Failure {
  readonly message: string;
  readonly errcode?: number;
  readonly errstr?: string;
  readonly code?: string;
}

/** An error that crosses threads keeps its message alone. Told by its members, as in errors.ts. */
export function failureOf(error: unknown): Failure {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  return {
    message: String(error.message),
    ...('errcode' in error && typeof error.errcode === 'number' && { errcode: error.errcode }),
    ...('errstr' in error && typeof error.errstr === 'string' && { errstr: error.errstr }),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
  };
}

export function errorOf(failure: Failure): Error {
  return Object.assign(new Error(failure.message), failure);
}
