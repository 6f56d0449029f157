import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { discard, SqliteClient, type SqliteQuery } from '../knex-private.ts';
import { isBusy } from './errors.ts';
import { execute, type Answer, type Append, type Appended, type Task } from './execute.ts';
import { ThreadConnection } from './thread.ts';
import { openDatabase } from './open.ts';

/**
 * SQLite's own waiting (busy_timeout) blocks the whole thread. So it is kept to what a commit takes, and the rest of the patience
 * is spent asleep.
 */
const blockingMs = 5;
const patienceMs = 15_000;

/** Short reads are on the main thread; writes, and searches that may read every row, on threads of their own. */
type RawConnection = DatabaseSync | ThreadConnection;

/** knex's better-sqlite3 dialect, on Node's own driver. */
export class NodeSqliteClient extends SqliteClient {
  override _driver(): unknown {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<RawConnection> {
    const { filename, options } = this.connectionSettings;
    const readOnly = options.readonly === true;
    return patiently(async () =>
      options.thread === true
        ? await ThreadConnection.open({ filename, blockingMs, readOnly })
        : openDatabase(filename, { blockingMs, readOnly }),
    );
  }

  /** Asked before a connection is used again. */
  override async validateConnection(connection: RawConnection): Promise<boolean> {
    return connection instanceof DatabaseSync || connection.works;
  }

  override async destroyRawConnection(connection: RawConnection): Promise<void> {
    await connection.close();
  }

  // knex runs transactions on objects that only inherit from the client, which private members of a class do not survive.
  override async _query(connection: RawConnection, query: SqliteQuery): Promise<SqliteQuery> {
    // A full disk rolls the transaction back. Report the full disk, not the failure of this ROLLBACK.
    if (query.sql === 'ROLLBACK' && !connection.isTransaction) return { ...query, response: [] };
    const statement = {
      sql: query.sql,
      bindings: this._formatBindings(query.bindings),
      rows: query.options?.rows,
    };
    const answer = await run(connection, statement);
    query.response = answer;
    if (answer !== undefined && 'changes' in answer) {
      query.context = { changes: answer.changes, lastID: answer.lastInsertRowid };
    }
    return query;
  }

  /** A transaction of these alone. One that cannot be ended takes its connection with it. */
  async append(connection: RawConnection, appends: readonly Append[]): Promise<readonly Appended[]> {
    try {
      const answer = await run(connection, { appends });
      if (answer === undefined || !('appended' in answer)) throw new Error('the appends were not answered');
      return answer.appended;
    } catch (error) {
      if (connection.isTransaction) discard(connection, error);
      throw error;
    }
  }
}

async function run(connection: RawConnection, task: Task): Promise<Answer | undefined> {
  const once = async (): Promise<Answer | undefined> =>
    connection instanceof DatabaseSync ? execute(connection, task) : await connection.run(task);
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
