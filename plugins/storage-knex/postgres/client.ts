import { callbackify } from 'node:util';
import knex, { type Knex } from 'knex';
import type { Client } from 'pg';
import { quietly } from '../dialect.ts';
import {
  discard,
  isDiscarded,
  PostgresClient as PostgresClientOfKnex,
  PostgresColumnCompiler,
  type PostgresQuery,
} from '../knex-private.ts';
import { connectMs, idleMs, networkMs, type ServerSettings } from '../server/settings.ts';
import { rowsStatements } from '../server/lookups.ts';
import { isLost, told } from './errors.ts';
import { prepareSession } from './session.ts';

/** knex's dialect, with texts that compare by their code points and errors that tell nothing of the rows. */
class PostgresClient extends PostgresClientOfKnex {
  override columnCompiler(table: unknown, column: unknown): PostgresColumnCompiler {
    return new ColumnCompiler(this, table, column);
  }

  override async acquireRawConnection(): Promise<Client> {
    try {
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
        for (const each of rowsStatements(query.sql, rows, (position) => `$${position}`)) {
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
      const error = told(caught);
      // Also where the server did not answer in time: what it still sends must not reach the next statement. And a beginning that
      // fails leaves a transaction open, which knex does not know of.
      if (isLost(error) || query.sql.startsWith('BEGIN')) discard(connection, error);
      throw error;
    }
  }
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

export interface PoolOptions {
  readonly max: number;
  readonly statementMs: number | undefined;
}

export function connectKnex(settings: ServerSettings, { max, statementMs }: PoolOptions): Knex {
  return knex({
    client: PostgresClient,
    connection: clientConfig(settings, statementMs),
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
  });
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
    ...(statementMs !== undefined && { query_timeout: statementMs + networkMs }),
  };
}
