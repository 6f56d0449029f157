import type { DatabaseSync } from 'node:sqlite';
import type { Statement } from './execute.ts';
import { failureOf } from './failure.ts';
import type { Failure } from './failure.ts';
import { insertRows } from './many-rows.ts';

/** A row's change, and rows that are inserted if it was there to be changed. */
export interface Advance {
  readonly move: Pick<Statement, 'sql' | 'bindings'>;
  readonly insert: { readonly sql: string; readonly rows: NonNullable<Statement['rows']> };
}

export type Advanced = { readonly moved: boolean } | { readonly failure: Failure };

/** One transaction of several, of which each is whole or not at all: what is refused is its own matter alone. */
export function advanceAll(connection: DatabaseSync, advances: readonly Advance[]): readonly Advanced[] {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const advanced = advances.map((each) => advance(connection, each));
    connection.exec('COMMIT');
    return advanced;
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function advance(connection: DatabaseSync, { move, insert }: Advance): Advanced {
  connection.exec('SAVEPOINT advance');
  try {
    const moved = connection.prepare(move.sql).run(...move.bindings).changes > 0;
    if (moved) insertRows(connection, insert.sql, insert.rows);
    connection.exec('RELEASE advance');
    return { moved };
  } catch (error) {
    // A full disk ends the whole transaction by itself.
    if (!connection.isTransaction) throw error;
    connection.exec('ROLLBACK TO advance; RELEASE advance');
    return { failure: failureOf(error) };
  }
}
