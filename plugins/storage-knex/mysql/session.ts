import type { Connection } from 'mysql2';
import { sha256 } from '../columns.ts';
import { busy } from '../turns.ts';
import { member } from '../errors.ts';
import { abandonedMs, type ServerSettings } from '../server/settings.ts';

/** How long one process waits for the migrations of another. */
export const schemaSeconds = 600;

/** The server cannot tell a connection that rests from one that stands still in a transaction: the pool must be sooner. */
export const writerIdleMs = abandonedMs - 2_000;

export type SessionKind = 'writer' | 'reader' | 'lookup' | 'schema';

/**
 * Once for each connection. READ COMMITTED, since each statement must see what was committed while it waited for its lock; and
 * strict, for a text that was cut in silence would not be found again.
 */
export async function prepareSession(
  connection: Connection,
  kind: SessionKind,
  { statementMs, database }: Pick<ServerSettings, 'statementMs' | 'database'>,
): Promise<void> {
  await run(connection, 'set session transaction isolation level read committed');
  await run(connection, "set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'");
  if (kind === 'schema') return lockSchema(connection, database);
  const lockSeconds = Math.max(1, Math.ceil(statementMs / 1_000));
  await run(connection, `set session autocommit = 1, innodb_lock_wait_timeout = ${lockSeconds}`);
  if (kind === 'writer') await run(connection, `set session wait_timeout = ${abandonedMs / 1_000}`);
  else await run(connection, 'set session transaction read only');
  await limitStatements(connection, statementMs);
}

/** Of the server's connections that change this database's schema there is one. Its end gives the lock back. */
async function lockSchema(connection: Connection, database: string): Promise<void> {
  const [row] = await run(
    connection,
    `select get_lock('sightline ${sha256(database).slice(0, 40)}', ${schemaSeconds}) as got`,
  );
  if (Number(member(row, 'got')) !== 1) throw busy();
}

/** MariaDB stops any statement, MySQL those that only read. */
async function limitStatements(connection: Connection, statementMs: number): Promise<void> {
  const [row] = await run(connection, 'select version() as version');
  await run(
    connection,
    isMariaDb(row)
      ? `set session max_statement_time = ${statementMs / 1_000}`
      : `set session max_execution_time = ${Math.ceil(statementMs)}`,
  );
}

export function isMariaDb(row: unknown): boolean {
  return JSON.stringify(row ?? '').includes('MariaDB');
}

export function run(connection: Connection, sql: string): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error, rows) => {
      if (error === null) resolve(Array.isArray(rows) ? rows : []);
      else reject(error);
    });
  });
}
