import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import type { KnexQuery } from 'knex/lib/dialects/better-sqlite3/index.js';
import { isBusy } from './errors.ts';
import { insertRows } from './many-rows.ts';
import { openDatabase } from './open.ts';

/**
 * SQLite's own waiting (busy_timeout) blocks the whole event loop, and with it whoever in this process holds the lock. So
 * it is kept to what a commit takes, and the rest of the patience is spent asleep.
 */
const blockingMs = 5;
const patienceMs = 15_000;

/** knex's better-sqlite3 dialect, on Node's own driver. */
export class NodeSqliteClient extends BetterSqlite3Client {
  override _driver(): unknown {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<DatabaseSync> {
    const { filename, options } = this.connectionSettings;
    return patiently(async () => openDatabase(filename, { blockingMs, readOnly: options.readonly }));
  }

  override async destroyRawConnection(connection: DatabaseSync): Promise<void> {
    connection.close();
  }

  // knex runs transactions on objects that only inherit from the client, which private members of a class do not survive.
  override _query(connection: DatabaseSync, query: KnexQuery): Promise<KnexQuery> {
    const bindings = this._formatBindings(query.bindings);
    // A full disk ends the transaction by itself; the error to report is that, and not that there is nothing to roll back.
    if (query.sql === 'ROLLBACK' && !connection.isTransaction) return Promise.resolve({ ...query, response: [] });
    // Inside a transaction the write lock is ours already; what is busy there would not become free by waiting.
    if (connection.isTransaction) return run(connection, query, bindings);
    return patiently(() => run(connection, query, bindings));
  }
}

async function run(connection: DatabaseSync, query: KnexQuery, bindings: readonly SQLInputValue[]): Promise<KnexQuery> {
  if (query.options?.rows !== undefined) {
    query.response = insertRows(connection, query.sql, query.options.rows);
    return query;
  }
  // The write lock is taken at once: a transaction that reads first and writes later cannot upgrade its lock when another
  // process has written in between, and waiting would not help it.
  const statement = connection.prepare(query.sql === 'BEGIN;' ? 'BEGIN IMMEDIATE;' : query.sql);
  if (statement.columns().length > 0) {
    query.response = statement.all(...bindings);
    return query;
  }
  const { changes, lastInsertRowid } = statement.run(...bindings);
  query.response = { changes, lastInsertRowid };
  query.context = { changes, lastID: lastInsertRowid };
  return query;
}

/** Repeats what finds the database busy, since another process writes; the last attempt's error is the caller's. */
async function patiently<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + patienceMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
    }
    await sleep(pause * (0.5 + Math.random()));
  }
}
