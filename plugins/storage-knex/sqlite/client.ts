import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { discard, SqliteClient, type SqliteQuery } from '../knex-private.ts';
import { isBusy, noWriteAhead } from './errors.ts';
import { execute, type Answer, type Append, type Appended, type Task } from './execute.ts';
import { WriterConnection } from './writer.ts';

interface OpenOptions {
  /** How long a statement may block the event loop for another process's lock. */
  readonly blockingMs: number;
  readonly readOnly: boolean;
}

/** Opens the file, making it readable by its owner alone; SQLite gives the files beside it the same mode. */
export function openDatabase(filename: string, { blockingMs, readOnly }: OpenOptions): DatabaseSync {
  if (!readOnly) create(filename);
  const database = new DatabaseSync(filename, { timeout: blockingMs, readOnly, enableForeignKeyConstraints: true });
  try {
    if (!readOnly) writeAhead(database);
    // An acknowledged write is on the disk, and not only with the operating system.
    database.exec('PRAGMA synchronous = FULL');
    // A planted view or trigger must not reach functions with effects.
    database.exec('PRAGMA trusted_schema = OFF');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Does not open an existing file: closing it would drop all POSIX locks of this process on it, which its other connections
 * hold. Throws the errors that opening would.
 */
function create(filename: string): void {
  if (statSync(filename, { throwIfNoEntry: false })?.isFile() === true) accessSync(filename, constants.W_OK);
  else closeSync(openSync(filename, 'a', 0o600));
}

/** Readers and the one writer do not wait for each other. Some network file systems cannot do it and answer another mode. */
function writeAhead(database: DatabaseSync): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') {
    throw Object.assign(new Error('the file system cannot hold a write-ahead log'), { code: noWriteAhead });
  }
  // After a burst the log is cut back to this instead of keeping its largest size.
  database.exec('PRAGMA journal_size_limit = 67108864');
}

/**
 * SQLite's own waiting (busy_timeout) blocks the whole thread. So it is kept to what a commit takes, and the rest of the patience
 * is spent asleep.
 */
const blockingMs = 5;
const patienceMs = 15_000;

/** Readers are on the main thread, the writer on one of its own. */
type RawConnection = DatabaseSync | WriterConnection;

/** knex's better-sqlite3 dialect, on Node's own driver. */
export class NodeSqliteClient extends SqliteClient {
  override _driver(): unknown {
    return DatabaseSync;
  }

  override acquireRawConnection(): Promise<RawConnection> {
    const { filename, options } = this.connectionSettings;
    return patiently(async () =>
      options.readonly
        ? openDatabase(filename, { blockingMs, readOnly: true })
        : await WriterConnection.open({ filename, blockingMs }),
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
