import { embeddedServer, type PostgresServer } from '../../test/support/postgres.ts';
import { ownMysqlServers, type MysqlServer } from '../../test/support/mysql.ts';
import { createWarehouse, type TestWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { mysqlStore, postgresStore, type ServerStore } from '../../plugins/storage-knex/support/store.ts';
import { inLine } from './crowded.ts';
import { mysqlStranger, postgresStranger } from './stranger.ts';

export type Engine = 'postgres' | 'mysql';

/** The server of the storage, and of the telemetry where that is PostgreSQL too. It is this run's own. */
export interface Database {
  readonly name: string;
  readonly store: ServerStore;
  readonly warehouse: TestWarehouse;
  /** Ends the server, in order or not, and has it answer again. */
  halt(): Promise<void>;
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Ends all connections of the gateways. */
  cut(): Promise<void>;
  /** A stranger takes every connection that is to be had until the answered function is called. */
  occupy(): Promise<() => Promise<void>>;
  /** Asks the telemetry's database, as its administrator. */
  telemetry(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** Connections of the gateways and the command line to the storage, and to the telemetry. */
  connections(): Promise<{ readonly storage: number; readonly telemetry: number }>;
  stop(): Promise<void>;
}

export async function startDatabase(engine: Engine): Promise<Database> {
  const postgres = inLine(await embeddedServer());
  const warehouse = await createWarehouse(postgres);
  const telemetryLogins = [warehouse.gateway, warehouse.writer];
  const telemetry = (sql: string) => postgres.admin(sql, warehouse.database);
  if (engine === 'postgres') {
    const store = await postgresStore(postgres);
    return {
      name: postgres.name,
      store,
      warehouse,
      telemetry,
      ...lifeOf(postgres),
      cut: () => cutPostgres(postgres, [store.login, ...telemetryLogins]),
      occupy: () => postgresStranger(postgres),
      connections: async () => ({
        storage: await countPostgres(postgres, [store.login]),
        telemetry: await countPostgres(postgres, telemetryLogins),
      }),
      stop: () => postgres.stop(),
    };
  }
  const [own] = await ownMysqlServers();
  if (own === undefined) {
    await postgres.stop();
    throw new Error('there is no mariadbd here');
  }
  const mysql = inLine(own);
  const store = await mysqlStore(mysql);
  return {
    name: mysql.name,
    store,
    warehouse,
    telemetry,
    ...lifeOf(mysql),
    async cut() {
      await mysql.admin(`KILL USER ${store.login}`);
      await cutPostgres(postgres, telemetryLogins);
    },
    occupy: () => mysqlStranger(mysql),
    connections: async () => ({
      storage: await countMysql(mysql, store.login),
      telemetry: await countPostgres(postgres, telemetryLogins),
    }),
    async stop() {
      await mysql.stop();
      await postgres.stop();
    },
  };
}

interface Own {
  readonly halt?: () => Promise<void>;
  readonly crash?: () => Promise<void>;
  readonly restart?: () => Promise<void>;
}

function lifeOf({ halt, crash, restart }: Own): Required<Own> {
  if (!halt || !crash || !restart) throw new Error('the server is not our own');
  return { halt, crash, restart };
}

const listOf = (logins: readonly string[]): string => logins.map((login) => `'${login}'`).join(', ');

async function cutPostgres(server: PostgresServer, logins: readonly string[]): Promise<void> {
  await server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN (${listOf(logins)})`);
}

async function countPostgres(server: PostgresServer, logins: readonly string[]): Promise<number> {
  const [row] = await server.admin(`SELECT count(*) FROM pg_stat_activity WHERE usename IN (${listOf(logins)})`);
  return Number(row?.[0]);
}

async function countMysql(server: MysqlServer, login: string): Promise<number> {
  const [row] = await server.admin(`SELECT count(*) FROM information_schema.processlist WHERE user = '${login}'`);
  return Number(row?.[0]);
}
