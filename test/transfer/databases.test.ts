import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mysqlStore, postgresStore, type ServerStore } from '../../plugins/storage-knex/support/store.ts';
import { soon } from '../contract/storage/stage.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { mysqlServers } from '../support/mysql.ts';
import { postgresServers } from '../support/postgres.ts';
import { exported, furnished, imported, newPlace, rowsOf } from './support.ts';

/* The embedded start is no dead end: a workspace moves on to a company's database, and back, and is the same there. */

const postgres = await postgresServers();
const mysql = await mysqlServers();
afterAll(async () => {
  for (const server of [...postgres, ...mysql]) await server.stop();
});

const servers: readonly (readonly [name: string, make: () => Promise<ServerStore>])[] = [
  ...postgres.map((server) => [server.name, () => postgresStore(server)] as const),
  ...mysql.map((server) => [server.name, () => mysqlStore(server)] as const),
];

describe('a workspace moves', () => {
  let source: Awaited<ReturnType<typeof furnished>>;
  let rows: readonly string[];
  beforeAll(async () => {
    source = await furnished();
    rows = await rowsOf(await exported(source));
  });
  afterAll(() => source.remove());

  it.each(servers)(
    'from SQLite to %s and back, row by row',
    async (_name, make) => {
      const store = await make();
      const opened: Storage[] = [];
      try {
        const storage = store.open();
        opened.push(storage);
        await storage.start(soon());
        await imported({ storage }, await exported(source));
        const there = await exported({ storage, directory: source.directory }, '.gz');
        expect(await rowsOf(there)).toEqual(rows);
        const back = await newPlace();
        await imported(back, there);
        expect(await rowsOf(await exported(back))).toEqual(rows);
        await back.remove();
      } finally {
        for (const storage of opened) await storage.stop();
        await store.cleanup();
      }
    },
    120_000,
  );
});
