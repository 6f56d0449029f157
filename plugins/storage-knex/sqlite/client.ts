import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import type { KnexQuery } from 'knex/lib/dialects/better-sqlite3/index.js';
import type { Advance, Advanced } from './advance.ts';
import { isBusy } from './errors.ts';
import { execute } from './execute.ts';
import type { Answer, Task } from './execute.ts';
import { openDatabase } from './open.ts';
import { ThreadedConnection } from './threaded.ts';

/**
 * SQLite's own waiting (busy_timeout) blocks the whole event loop, and with it whoever in this process holds the lock. So
 * it is kept to what a commit takes, and the rest of the patience is spent asleep.
 */
const blockingMs = 5;
const patienceMs = 15_000;

type RawConnection = DatabaseSync | ThreadedConnection;

/** knex's better-sqlite3 dialect, on Node's own driver. */
export class NodeSqliteClient extends BetterSqlite3Client {
  override _driver(): unknown {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<RawConnection> {
    const { filename, options } = this.connectionSettings;
    return patiently(async () =>
      this.config.manner.threaded
        ? await ThreadedConnection.open({ filename, blockingMs })
        : openDatabase(filename, { blockingMs, readOnly: options.readonly }),
    );
  }

  /** Asked before a connection is used again; one that is no longer of the manner is closed, and another is opened. */
  override async validateConnection(connection: RawConnection): Promise<boolean> {
    return connection instanceof ThreadedConnection ? connection.works : !this.config.manner.threaded;
  }

  override async destroyRawConnection(connection: RawConnection): Promise<void> {
    await connection.close();
  }

  // knex runs transactions on objects that only inherit from the client, which private members of a class do not survive.
  override async _query(connection: RawConnection, query: KnexQuery): Promise<KnexQuery> {
    const rows = query.options?.rows;
    // A full disk ends the transaction by itself; the error to report is that, and not that there is nothing to roll back.
    if (query.sql === 'ROLLBACK' && !connection.isTransaction) return { ...query, response: [] };
    if (query.sql === 'BEGIN;') this.config.manner.begin();
    if (rows !== undefined) this.config.manner.insert(rows.length);
    const statement = { sql: query.sql, bindings: this._formatBindings(query.bindings), rows };
    const answer = await run(connection, statement);
    query.response = answer;
    if (answer !== undefined && 'changes' in answer) {
      query.context = { changes: answer.changes, lastID: answer.lastInsertRowid };
    }
    return query;
  }

  /** A transaction of these alone. One that cannot be ended takes its connection with it. */
  async advance(connection: RawConnection, advances: readonly Advance[]): Promise<readonly Advanced[]> {
    this.config.manner.begin();
    this.config.manner.insert(advances.reduce((sum, { insert }) => sum + insert.rows.length, 0));
    try {
      const answer = await run(connection, { advances });
      if (answer === undefined || !('advanced' in answer)) throw new Error('the advances were not answered');
      return answer.advanced;
    } catch (error) {
      if (connection.isTransaction) Object.assign(connection, { __knex__disposed: error });
      throw error;
    }
  }
}

async function run(connection: RawConnection, task: Task): Promise<Answer | undefined> {
  const once = async (): Promise<Answer | undefined> =>
    connection instanceof ThreadedConnection ? await connection.run(task) : execute(connection, task);
  // Inside a transaction the write lock is ours already; what is busy there would not become free by waiting.
  return connection.isTransaction ? await once() : await patiently(once);
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
