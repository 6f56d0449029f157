import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storagePlugin from '../../plugins/storage-knex/index.ts';
import { mysqlStore, postgresStore, type ServerStore } from '../../plugins/storage-knex/support/store.ts';
import { testHost } from '../contract/host.ts';
import type { StorageUnderTest } from '../contract/storage.ts';
import { storageOfAll, type SharedStorage } from './forms/form.ts';
import { mysqlServers, type MysqlServer } from './mysql.ts';
import { embeddedServer, localServer, type PostgresServer } from './postgres.ts';

/** An empty store of the kind that all tests run on. */
export async function emptyStore(): Promise<StorageUnderTest> {
  if (storageOfAll !== undefined) return storeOn(storageOfAll);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sl-store-'));
  const config = { client: 'sqlite' } as const;
  return {
    open: (overrides) => storagePlugin.create(config, testHost(dataDirectory, overrides)),
    process: {
      module: new URL('../../plugins/storage-knex/index.ts', import.meta.url).href,
      config,
      dataDirectory,
    },
    cleanup: () => rm(dataDirectory, { recursive: true, force: true }),
  };
}

/** A database on a server that is stopped with its last store, if it is one of its own. */
export async function storeOn(
  storage: SharedStorage,
): Promise<StorageUnderTest & { readonly process: { readonly config: object } }> {
  const { store, done } = await (storage === 'postgres' ? onPostgres() : onMysql());
  return {
    open: (overrides) => store.open(overrides),
    process: { ...store.process, config: store.config },
    async cleanup() {
      await store.cleanup();
      await done();
    },
  };
}

interface Placed {
  readonly store: ServerStore;
  done(): Promise<void>;
}

async function onPostgres(): Promise<Placed> {
  const { server, done } = await postgresServer();
  return { store: await postgresStore(server), done };
}

async function onMysql(): Promise<Placed> {
  const { server, done } = await mysqlServer();
  return { store: await mysqlStore(server), done };
}

interface Lent<Server> {
  readonly server: Server;
  /** Stops the server with its last user. */
  done(): Promise<void>;
}

function lend<Server extends { stop(): Promise<void> }>(start: () => Promise<Server>): () => Promise<Lent<Server>> {
  let users = 0;
  let running: Promise<Server> | undefined;
  return async () => {
    users += 1;
    running ??= start();
    const server = await running;
    return {
      server,
      async done() {
        users -= 1;
        if (users > 0) return;
        running = undefined;
        await server.stop();
      },
    };
  };
}

/** Those of which there is a server; what cannot be had is said in one line. `done` gives them back. */
export async function sharedStorages(): Promise<{
  readonly storages: readonly SharedStorage[];
  done(): Promise<void>;
}> {
  try {
    const { done } = await mysqlServer();
    return { storages: ['postgres', 'mysql'], done };
  } catch (error) {
    if (process.env['REQUIRE_SERVICES'] === '1') throw error;
    return { storages: ['postgres'], done: async () => {} };
  }
}

export const postgresServer = lend<PostgresServer>(() => localServer().catch(() => embeddedServer({ fsync: true })));
const mysqlServer = lend<MysqlServer>(async () => {
  const [server] = await mysqlServers();
  if (server === undefined) throw new Error('there is no MySQL');
  return server;
});
