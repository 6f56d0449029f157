import { callbackify } from 'node:util';
import knex, { type Knex } from 'knex';
import { createConnection, type Connection, type ConnectionOptions, type RowDataPacket } from 'mysql2';
import { quietly, type Row } from '../dialect.ts';
import { discard, isDiscarded, MysqlClient as MysqlClientOfKnex, type MysqlQuery } from '../knex-private.ts';
import { rowsStatements, type Link, type LookupStatement } from '../server/lookups.ts';
import { connectMs, idleMs, networkMs, type ServerSettings, lookupMs, abandonedMs } from '../config.ts';
import { isLost, told } from './errors.ts';
import { sha256 } from '../columns.ts';
import { busy } from '../transact.ts';
import { member } from '../errors.ts';

/** What knex keeps of a connection's settings: the driver's own, and some that are knex's alone, of which the driver warns. */
interface KnexSettings {
  readonly driver: ConnectionOptions;
  /** Set before each connection. */
  readonly password: string;
  readonly database: string;
  readonly charset: string;
  readonly collate: string;
}

/** Ours, which knex hands on as it is. */
interface Handling {
  /** How long a statement is waited for; undefined: as long as it takes. */
  readonly answerMs: number | undefined;
  readonly around: ((sql: string, run: () => Promise<void>) => Promise<void>) | undefined;
  readonly password: ServerSettings['password'];
}

class MysqlClient extends MysqlClientOfKnex {
  override _driver(): unknown {
    return {
      createConnection: ({ driver, password }: KnexSettings) => createConnection({ ...driver, password }),
    };
  }

  override async acquireRawConnection(): Promise<Connection> {
    try {
      const password = await this.config.userParams.password();
      this.connectionSettings = { ...this.connectionSettings, password };
      return await super.acquireRawConnection();
    } catch (error) {
      throw told(error);
    }
  }

  override async destroyRawConnection(connection: Connection): Promise<void> {
    // A peer that is gone would never answer a farewell.
    if (isDiscarded(connection)) connection.destroy();
    else await super.destroyRawConnection(connection);
  }

  // knex runs transactions on objects that only inherit from the client, which private members of a class do not survive.
  override async _query(connection: Connection, query: string | MysqlQuery): Promise<MysqlQuery> {
    const asked: MysqlQuery = typeof query === 'string' ? { sql: query } : query;
    const { answerMs, around } = this.config.userParams;
    if (answerMs !== undefined) asked.options = { ...asked.options, timeout: answerMs };
    // What a statement answers that is not sent.
    asked.response = [[], []];
    try {
      const { rows, ...options } = asked.options ?? {};
      const run = async () => {
        if (rows === undefined) return void (await super._query(connection, asked));
        for (const each of rowsStatements(asked.sql, rows)) await super._query(connection, { ...each, options });
      };
      await (around === undefined ? run() : around(asked.sql, run));
      return asked;
    } catch (caught) {
      const error = told(caught);
      // Also where the server did not answer in time: what it still sends must not reach the next statement.
      if (isLost(error)) {
        discard(connection, error);
        connection.destroy();
      }
      throw error;
    }
  }
}

interface PoolOptions {
  readonly max: number;
  readonly session: SessionKind;
  /** Of the tables that are made. */
  readonly collate?: string;
  /** Each statement passes here. */
  readonly around?: Handling['around'];
}

export function connectKnex(settings: ServerSettings, { max, session, collate = '', around }: PoolOptions): Knex {
  const connection: KnexSettings = {
    driver: driverOptions(settings),
    password: '',
    database: settings.database,
    charset: 'utf8mb4',
    collate,
  };
  const schema = session === 'schema';
  const handling: Handling = {
    answerMs: isPatient(session) ? undefined : settings.statementMs + networkMs,
    around,
    password: settings.password,
  };
  const config: Knex.Config & { readonly userParams: Handling } = {
    client: MysqlClient,
    connection: { ...connection },
    ...quietly,
    acquireConnectionTimeout: schema ? schemaSeconds * 1_000 + connectMs : settings.acquireMs,
    userParams: handling,
    pool: {
      min: 0,
      max,
      idleTimeoutMillis: session === 'writer' ? writerIdleMs : idleMs,
      createTimeoutMillis: schema ? schemaSeconds * 1_000 + connectMs : 2 * connectMs,
      afterCreate: callbackify((raw: Connection) =>
        prepareSession(raw, session, settings).catch((error: unknown) => {
          raw.destroy();
          throw told(error);
        }),
      ),
    },
  };
  return knex(config);
}

function driverOptions(settings: ServerSettings): ConnectionOptions {
  const { host, port, user, database, tls } = settings;
  return {
    ...(host.startsWith('/') ? { socketPath: host } : { host, port }),
    user,
    database,
    charset: 'utf8mb4',
    connectTimeout: connectMs,
    enableKeepAlive: true,
    // Numbers beyond what JavaScript holds exactly come as text.
    supportBigNumbers: true,
    ...(tls !== false && {
      ssl: { ...tls, verifyIdentity: tls.rejectUnauthorized, minVersion: 'TLSv1.2' },
    }),
  };
}

export async function openLink(settings: ServerSettings): Promise<Link> {
  const connection = createConnection({ ...driverOptions(settings), password: await settings.password() });
  const link = new MysqlLink(connection);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error === null ? resolve() : reject(error)));
    });
    await prepareSession(connection, 'lookup', settings);
    return link;
  } catch (error) {
    link.abandon();
    throw told(error);
  }
}

class MysqlLink implements Link {
  usable = true;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.on('error', () => this.abandon());
    connection.on('end', () => (this.usable = false));
  }

  /** The driver keeps a prepared statement for each text. */
  first({ sql }: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.#connection.execute<RowDataPacket[]>({ sql, values: [...values], timeout: lookupMs }, (caught, rows) => {
        if (caught === null) return resolve(rows[0]);
        const error = told(caught);
        if (isLost(error)) this.abandon();
        reject(error);
      });
    });
  }

  close(): Promise<void> {
    if (!this.usable) return Promise.resolve();
    this.usable = false;
    return new Promise((resolve) => {
      this.#connection.end(() => resolve());
    });
  }

  abandon(): void {
    this.usable = false;
    this.#connection.destroy();
  }
}

/** How long one process waits for the migrations of another. */
const schemaSeconds = 600;

/** The server cannot tell a connection that rests from one that stands still in a transaction: the pool must be sooner. */
const writerIdleMs = abandonedMs - 2_000;

export type SessionKind = 'writer' | 'reader' | 'snapshot' | 'lookup' | 'schema';

/** Whose statements take as long as they take. */
function isPatient(kind: SessionKind): boolean {
  return kind === 'schema' || kind === 'snapshot';
}

/**
 * Once for each connection. READ COMMITTED, since each statement must see what was committed while it waited for its lock; and
 * strict, for a text that was cut in silence would not be found again. Limits of time are ours alone, whatever the server's are.
 */
async function prepareSession(
  connection: Connection,
  kind: SessionKind,
  { statementMs, database }: Pick<ServerSettings, 'statementMs' | 'database'>,
): Promise<void> {
  await run(connection, 'set session transaction isolation level read committed');
  await run(connection, "set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'");
  await run(connection, 'set session autocommit = 1');
  await limitTime(connection, kind, statementMs);
  if (kind === 'schema') return lockSchema(connection, database);
  if (kind !== 'writer') await run(connection, 'set session transaction read only');
}

/** MariaDB stops any statement, MySQL those that only read. */
async function limitTime(connection: Connection, kind: SessionKind, statementMs: number): Promise<void> {
  const [row] = await run(connection, 'select version() as version');
  const [limitMs, lockSeconds] = isPatient(kind)
    ? [0, schemaSeconds]
    : [statementMs, Math.max(1, Math.ceil(statementMs / 1_000))];
  const limits = [
    `innodb_lock_wait_timeout = ${lockSeconds}`,
    `lock_wait_timeout = ${lockSeconds}`,
    `wait_timeout = ${kind === 'writer' ? abandonedMs / 1_000 : `greatest(@@wait_timeout, ${schemaSeconds})`}`,
    ...(isMariaDb(row)
      ? [
          `max_statement_time = ${limitMs / 1_000}`,
          ...['transaction', 'write_transaction', 'readonly_transaction'].map((each) => `idle_${each}_timeout = 0`),
        ]
      : [`max_execution_time = ${Math.ceil(limitMs)}`]),
  ];
  await run(connection, `set session ${limits.join(', ')}`);
}

/** Of the server's connections that change this database's schema there is one. Its end gives the lock back. */
async function lockSchema(connection: Connection, database: string): Promise<void> {
  const [row] = await run(
    connection,
    `select get_lock('sightline ${sha256(database).slice(0, 40)}', ${schemaSeconds}) as got`,
  );
  if (Number(member(row, 'got')) !== 1) throw busy();
}

export function isMariaDb(row: unknown): boolean {
  return JSON.stringify(row ?? '').includes('MariaDB');
}

function run(connection: Connection, sql: string): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, (error, rows) => {
      if (error === null) resolve(Array.isArray(rows) ? rows : []);
      else reject(error);
    });
  });
}
