import { callbackify } from 'node:util';
import knex, { type Knex } from 'knex';
import pg, { Client } from 'pg';
import { quietly, type Row, type Reach } from '../dialect.ts';
import { inChunks } from '../columns.ts';
import type { ColumnValue } from '../tables.ts';
import {
  discard,
  isDiscarded,
  PostgresClient as PostgresClientOfKnex,
  PostgresColumnCompiler,
  type PostgresQuery,
} from '../knex-private.ts';
import { connectMs, idleMs, networkMs, type ServerSettings, lookupMs, abandonedMs } from '../config.ts';
import type { Link, LookupStatement } from '../server/lookups.ts';
import { isLost, isRefusedForAnother, told } from './errors.ts';

/** knex's dialect, with texts that compare by their code points and errors that tell nothing of the rows. */
class PostgresClient extends PostgresClientOfKnex {
  override columnCompiler(table: unknown, column: unknown): PostgresColumnCompiler {
    return new ColumnCompiler(this, table, column);
  }

  override async acquireRawConnection(): Promise<Client> {
    try {
      // Were the driver to ask for it itself and get none, knex would leave the connection open.
      const password = await this.config.userParams.password();
      this.connectionSettings = { ...this.connectionSettings, password };
      return await super.acquireRawConnection();
    } catch (error) {
      throw told(error);
    }
  }

  override async destroyRawConnection(connection: Client): Promise<void> {
    // A peer that is gone would never answer a farewell.
    if (isDiscarded(connection)) connection.connection.stream.destroy();
    else await super.destroyRawConnection(connection);
  }

  // knex runs transactions on objects that only inherit from the client, which private members of a class do not survive.
  override async _query(connection: Client, query: PostgresQuery): Promise<PostgresQuery> {
    try {
      if (query.options?.rows !== undefined) {
        const { rows, ...options } = query.options;
        for (const each of rowsStatements(query.sql, rows)) {
          await super._query(connection, { ...each, options });
        }
        return query;
      }
      const answered = await super._query(connection, query);
      const { response } = answered;
      // So PostgreSQL answers a COMMIT after a statement that failed.
      if (query.sql === 'COMMIT;' && response !== undefined && 'command' in response && response.command !== 'COMMIT') {
        throw new Error('the transaction was rolled back');
      }
      return answered;
    } catch (caught) {
      const error = firstFailure(connection, told(caught));
      // Also where the server did not answer in time: what it still sends must not reach the next statement. And a beginning that
      // fails leaves a transaction open, which knex does not know of.
      if (isLost(error) || query.sql.startsWith('BEGIN')) discard(connection, error);
      throw error;
    }
  }
}

const failed = new WeakMap<Client, unknown>();

/**
 * What was sent with a statement that failed is refused for its sake. Both answers come at once, and a caller may
 * see the refusal first, which tells neither what was wrong nor whether the transaction may be done again.
 */
function firstFailure(connection: Client, error: unknown): unknown {
  if (isRefusedForAnother(error)) return failed.get(connection) ?? error;
  failed.set(connection, error);
  return error;
}

/**
 * Texts order by their code points, as in the other databases; and no index depends on the operating system's collations,
 * which change with its versions.
 */
class ColumnCompiler extends PostgresColumnCompiler {
  text = 'text collate "C"';

  override varchar(length: number): string {
    return `${super.varchar(length)} collate "C"`;
  }
}

/** Rows that may each hold a statement of 64,000 characters stay far below what one JSON text may hold. */
const rowsAStatement = 1_000;

/** All rows as one JSON text, which the server's record type of the table reads: as VALUES they take it about twice as long. */
export function* rowsStatements(
  sql: string,
  rows: readonly (readonly ColumnValue[])[],
): Generator<{ readonly sql: string; readonly bindings: readonly string[] }> {
  const [table = '', ...columns] = [...sql.matchAll(/"(\w+)"/g)].map(([, name = '']) => name);
  const list = columns.map((column) => `"${column}"`).join(', ');
  const insert = `insert into "${table}" (${list}) select ${list} from json_populate_recordset(null::"${table}", $1)`;
  // JSON cannot carry half a surrogate pair to the server.
  const cell = (value: ColumnValue): ColumnValue => (typeof value === 'string' ? value.toWellFormed() : value);
  for (const some of inChunks(rows, rowsAStatement)) {
    const objects = some.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], cell(value)])));
    yield { sql: insert, bindings: [JSON.stringify(objects)] };
  }
}

interface PoolOptions {
  readonly max: number;
  readonly statementMs: number | undefined;
}

export function connectKnex(settings: ServerSettings, { max, statementMs }: PoolOptions): Knex {
  const config: Knex.Config & { readonly userParams: Pick<ServerSettings, 'password'> } = {
    client: PostgresClient,
    connection: { ...clientConfig(settings, statementMs), password: '' },
    userParams: { password: settings.password },
    ...quietly,
    acquireConnectionTimeout: settings.acquireMs,
    pool: {
      min: 0,
      max,
      idleTimeoutMillis: idleMs,
      afterCreate: callbackify((client: Client) =>
        prepareSession(client, statementMs).catch((error: unknown) => {
          client.connection.stream.destroy();
          throw told(error);
        }),
      ),
    },
  };
  return knex(config);
}

export function clientConfig(settings: ServerSettings, statementMs: number | undefined) {
  const { host, port, user, password, database, tls } = settings;
  return {
    host,
    port,
    user,
    password,
    database,
    ssl: tls,
    application_name: 'sightline',
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    // What a transaction says at once is sent at once, and answered in that order.
    pipeline: true,
    ...(statementMs !== undefined && { query_timeout: statementMs + networkMs }),
  };
}

/** For look-ups, which come before an organization is known: its policies let every row through. */
export async function openLink(settings: ServerSettings): Promise<Link> {
  const client = new Client({ ...clientConfig(settings, undefined), query_timeout: lookupMs });
  const link = new PostgresLink(client);
  try {
    await client.connect();
    await prepareSession(client, settings.statementMs);
    await client.query(`SET ${reachSetting} = '${everyone}'; SET default_transaction_read_only = on`);
    return link;
  } catch (error) {
    link.abandon();
    throw told(error);
  }
}

class PostgresLink implements Link {
  usable = true;
  readonly #client: Client;
  readonly #texts = new Map<string, string>();

  constructor(client: Client) {
    this.#client = client;
    client.on('error', () => this.abandon());
    client.on('end', () => (this.usable = false));
  }

  async first({ name, sql }: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    try {
      const { rows } = await this.#client.query<Row>({ name, text: this.#text(sql), values: [...values] });
      return rows[0];
    } catch (caught) {
      const error = told(caught);
      if (isLost(error)) this.abandon();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.usable) return;
    this.usable = false;
    await this.#client.end();
  }

  abandon(): void {
    this.usable = false;
    this.#client.connection.stream.destroy();
  }

  #text(sql: string): string {
    let text = this.#texts.get(sql);
    if (text === undefined) {
      let position = 0;
      text = sql.replaceAll('?', () => `$${(position += 1)}`);
      this.#texts.set(sql, text);
    }
    return text;
  }
}

/** The organization whose rows the policies show (dialect.ts): its id. */
export const reachSetting = 'sightline.organization';

/** In its place where the directory looks across organizations; no id is written so. */
export const everyone = '*';

/** The same for a transaction that takes as long as it takes, such as an import that waits for its file. */
const abandonedLongMs = 60_000;

/**
 * Once for each connection. Limits of time are ours alone, whatever the role or the database was given; that of a transaction
 * came with PostgreSQL 17. Nothing weaker than a commit on the disk is taken, and nothing stronger weakened. A standby is
 * refused: what it shows may lag behind a key that was revoked.
 */
async function prepareSession(client: Client, statementMs: number | undefined): Promise<void> {
  await client.query(`
    SET statement_timeout = ${statementMs ?? 0};
    SET lock_timeout = 0;
    SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('transaction_timeout', true) <> '0';
    SET idle_in_transaction_session_timeout = ${statementMs === undefined ? abandonedLongMs : abandonedMs};
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    DO $$ BEGIN
      IF current_setting('transaction_read_only') = 'on' THEN RAISE read_only_sql_transaction; END IF;
    END $$`);
}

export function beginReading(reach: Reach): string {
  return `BEGIN READ ONLY; SELECT ${reaching(reach)}`;
}

/** The organization's lock comes before the first statement, each of which sees what was committed by then. */
export function beginWriting(reach: Reach): string {
  const lock = reach === 'directory' ? '' : `, ${lockOf(reach)}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${reaching(reach)}${lock}`;
}

/** Held until the transaction ends. Two names that share a number only wait for each other. */
export function lockOf(name: string): string {
  return `pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(name)}, 5174))`;
}

/** For the rest of the transaction. */
export function reaching(reach: Reach): string {
  return `set_config('${reachSetting}', ${pg.escapeLiteral(reach === 'directory' ? everyone : reach)}, true)`;
}
