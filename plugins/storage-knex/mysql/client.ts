import { callbackify } from 'node:util';
import knex, { type Knex } from 'knex';
import { createConnection, type Connection, type ConnectionOptions, type RowDataPacket } from 'mysql2';
import { quietly, type Row } from '../dialect.ts';
import { discard, isDiscarded, MysqlClient as MysqlClientOfKnex, type MysqlQuery } from '../knex-private.ts';
import { rowsStatements, type Link, type LookupStatement } from '../server/lookups.ts';
import { connectMs, idleMs, networkMs, type ServerSettings, lookupMs } from '../server/settings.ts';
import { isLost, told } from './errors.ts';
import { prepareSession, schemaSeconds, type SessionKind, writerIdleMs } from './session.ts';

/** What knex keeps of a connection's settings: the driver's own, and some that are knex's alone, of which the driver warns. */
interface KnexSettings {
  readonly driver: ConnectionOptions;
  readonly database: string;
  readonly charset: string;
  readonly collate: string;
}

/** Ours, which knex hands on as it is. */
interface Handling {
  /** How long a statement is waited for; undefined: as long as it takes. */
  readonly answerMs: number | undefined;
  readonly around: ((sql: string, run: () => Promise<void>) => Promise<void>) | undefined;
}

class MysqlClient extends MysqlClientOfKnex {
  override _driver(): unknown {
    return { createConnection: ({ driver }: KnexSettings) => createConnection(driver) };
  }

  override async acquireRawConnection(): Promise<Connection> {
    try {
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
        for (const each of rowsStatements(asked.sql, rows, () => '?'))
          await super._query(connection, { ...each, options });
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
    database: settings.database,
    charset: 'utf8mb4',
    collate,
  };
  const schema = session === 'schema';
  const handling: Handling = { answerMs: schema ? undefined : settings.statementMs + networkMs, around };
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
  const { host, port, user, password, database, tls } = settings;
  return {
    ...(host.startsWith('/') ? { socketPath: host } : { host, port }),
    user,
    password,
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
  const connection = createConnection(driverOptions(settings));
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
