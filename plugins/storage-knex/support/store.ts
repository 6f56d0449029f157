import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../../src/contract/core/index.ts';
import type { Storage } from '../../../src/contract/storage/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import type { StorageUnderTest } from '../../../test/contract/storage.ts';
import type { MysqlServer } from '../../../test/support/mysql.ts';
import type { PostgresServer } from '../../../test/support/postgres.ts';
import { configSchema, type ServerConfig, settingsOf } from '../config.ts';
import { mysql } from '../mysql/dialect.ts';
import plugin from '../index.ts';
import { postgres } from '../postgres/dialect.ts';

/** An empty database of a server, with the login that the documentation asks for. */
export interface ServerStore extends StorageUnderTest {
  readonly database: string;
  readonly login: string;
  readonly password: string;
  readonly config: ServerConfig;
  open(overrides?: Partial<Host>, changes?: object): Storage;
  /** Runs a statement as the server's administrator. */
  admin(sql: string): Promise<readonly (readonly unknown[])[]>;
}

export async function postgresStore(server: PostgresServer, template?: string): Promise<ServerStore> {
  const [login, password] = [`sl_store_${randomBytes(5).toString('hex')}`, randomBytes(9).toString('hex')];
  const database = await server.createDatabase(template);
  await server.admin(`CREATE ROLE ${login} LOGIN PASSWORD '${password}'`);
  await server.admin(`ALTER DATABASE ${database} OWNER TO ${login}`);
  return store({
    database,
    login,
    password,
    config: { client: 'postgres', url: server.url(database, login, password) },
    admin: (sql) => server.admin(sql, database),
    drop: () => server.drop(database, [login]),
  });
}

export async function mysqlStore(server: MysqlServer): Promise<ServerStore> {
  const [login, password] = [`sl_store_${randomBytes(5).toString('hex')}`, randomBytes(9).toString('hex')];
  const database = await server.createDatabase();
  await server.admin(`CREATE USER ${login} IDENTIFIED BY '${password}'`);
  await server.admin(`GRANT ALL ON ${database}.* TO ${login}`);
  return store({
    database,
    login,
    password,
    config: { client: 'mysql', url: server.url(database, login, password) },
    admin: (sql) => server.admin(sql, database),
    drop: () => server.drop(database, [login]),
  });
}

/** Stores whose schema is copied from one that was migrated, which takes most of the time that a test of a store takes. */
export interface CopiedStores {
  make(): Promise<ServerStore>;
  cleanup(): Promise<void>;
}

export function copiedPostgresStores(server: PostgresServer): CopiedStores {
  let template: Promise<ServerStore> | undefined;
  return {
    async make() {
      template ??= postgresTemplate(server);
      const { database, login } = await template;
      const copy = await postgresStore(server, database);
      await copy.admin(`REASSIGN OWNED BY ${login} TO ${copy.login}`);
      return copy;
    },
    async cleanup() {
      await (await template)?.cleanup();
    },
  };
}

export function copiedMysqlStores(server: MysqlServer): CopiedStores {
  let template: Promise<Template> | undefined;
  return {
    async make() {
      template ??= mysqlTemplate(server);
      const { copy } = await template;
      const made = await mysqlStore(server);
      await made.admin(copy);
      return made;
    },
    async cleanup() {
      await (await template)?.store.cleanup();
    },
  };
}

interface Template {
  readonly store: ServerStore;
  /** Statements that make its tables with what is in them. */
  readonly copy: string;
}

async function migrated(making: Promise<ServerStore>): Promise<ServerStore> {
  const store = await making;
  const storage = store.open();
  await storage.start(AbortSignal.timeout(60_000));
  await storage.stop();
  return store;
}

async function postgresTemplate(server: PostgresServer): Promise<ServerStore> {
  const store = await migrated(postgresStore(server));
  // Else it would be given away with the tables of the first copy.
  await server.admin(`ALTER DATABASE ${store.database} OWNER TO CURRENT_USER`);
  return store;
}

async function mysqlTemplate(server: MysqlServer): Promise<Template> {
  const store = await migrated(mysqlStore(server));
  const statements = ['SET foreign_key_checks = 0'];
  for (const [table] of await store.admin('SHOW TABLES')) {
    const [row] = await store.admin(`SHOW CREATE TABLE ${String(table)}`);
    statements.push(String(row?.[1]), `INSERT INTO ${String(table)} SELECT * FROM ${store.database}.${String(table)}`);
  }
  return { store, copy: statements.join(';') };
}

export function serverConfig(input: object): ServerConfig {
  const config = configSchema.parse({ pool: { max: 6 }, ...input });
  if (config.client === 'sqlite') throw new Error('not the config of a server');
  return config;
}

/** The connection beneath a storage, for a test to look into. */
export function connectionOf(config: ServerConfig) {
  return config.client === 'postgres' ? postgres(settingsOf(config)) : mysql(settingsOf(config));
}

interface Made {
  readonly database: string;
  readonly login: string;
  readonly password: string;
  readonly config: object;
  admin(sql: string): Promise<readonly (readonly unknown[])[]>;
  drop(): Promise<void>;
}

async function store({ drop, config: input, ...made }: Made): Promise<ServerStore> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sl-store-'));
  const config = serverConfig(input);
  return {
    ...made,
    config,
    open: (overrides, changes = {}) =>
      plugin.create(serverConfig({ ...input, ...changes }), testHost(dataDirectory, overrides)),
    process: { module: new URL('../index.ts', import.meta.url).href, config: input, dataDirectory },
    async cleanup() {
      await drop();
      await rm(dataDirectory, { recursive: true });
    },
  };
}
