import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rejection } from '../../test/contract/runner.ts';
import { ada, newIncident } from '../../test/contract/storage/stage.ts';
import { mysqlServers } from '../../test/support/mysql.ts';
import { everyPostgresServer } from '../../test/support/postgres.ts';
import { configSchema } from './config.ts';
import { mysqlStore, postgresStore, type ServerStore } from './support/store.ts';

const postgresAll = await everyPostgresServer();
const mysqlAll = await mysqlServers();
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-password-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  for (const server of [...postgresAll, ...mysqlAll]) await server.stop();
});

interface Subject {
  readonly name: string;
  make(): Promise<ServerStore>;
  change(store: ServerStore, password: string): Promise<unknown>;
  /** Ends every connection of the login. */
  disconnect(store: ServerStore): Promise<unknown>;
}

const subjects: readonly Subject[] = [
  ...postgresAll
    // A local server may use trust authentication, which takes any password.
    .filter(({ restart }) => restart !== undefined)
    .map((server) => ({
      name: server.name,
      make: () => postgresStore(server),
      change: ({ login }: ServerStore, password: string) => server.admin(`ALTER ROLE ${login} PASSWORD '${password}'`),
      disconnect: ({ login }: ServerStore) =>
        server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${login}'`),
    })),
  ...mysqlAll.map((server) => ({
    name: server.name,
    make: () => mysqlStore(server),
    change: ({ login }: ServerStore, password: string) =>
      server.admin(`ALTER USER ${login} IDENTIFIED BY '${password}'`),
    async disconnect({ login }: ServerStore) {
      const sql = `SELECT id FROM information_schema.processlist WHERE user = '${login}'`;
      for (const [id] of await server.admin(sql)) await server.admin(`KILL ${String(id)}`).catch(() => undefined);
    },
  })),
];

describe.each(subjects)('storage.passwordFile on $name', ({ name, make, change, disconnect }) => {
  it('is read for each connection: a rotation needs no restart', async () => {
    const store = await make();
    const file = join(directory, name.replaceAll(/\W/g, '-'));
    const url = new URL(store.config.url ?? '');
    const write = (password: string) => writeFile(file, `${password}\n`);
    const { password } = store;
    url.password = '';
    const storage = store.open({}, { url: url.href, passwordFile: file });
    let uses = 0;
    const usable = async () => {
      const { id } = await storage.directory.createOrganization({ name: `Acme ${(uses += 1)}` });
      await storage.workspace(id).incidents.create(newIncident(), ada);
      await storage.directory.liveKey('ak_x', 'sec_x');
    };
    const unusable = async () => {
      const error = await rejection(usable());
      expect(error).toMatchObject({ code: 'unavailable' });
      return error;
    };
    try {
      const begun = performance.now();
      const missing = `storage.passwordFile (${file}) cannot be read: ENOENT.`;
      expect(await rejection(storage.start(AbortSignal.timeout(30_000)))).toMatchObject({ operatorMessage: missing });
      // Not after a minute, when the server gives up to wait for a password.
      expect(performance.now() - begun).toBeLessThan(15_000);
      await write(password);
      await storage.start(AbortSignal.timeout(30_000));
      await usable();

      await change(store, 'rotated-1');
      await disconnect(store);
      expect(await unusable()).toMatchObject({ operatorMessage: expect.stringMatching(/password is wrong/) });
      await write('rotated-1');
      await usable();

      await rm(file);
      await disconnect(store);
      expect(await unusable()).toMatchObject({ operatorMessage: missing });
      await write('rotated-1');
      await usable();
    } finally {
      await storage.stop();
      await store.cleanup();
    }
  });
});

describe('a config', () => {
  it.each([{ url: 'postgres://u:p@h/d' }, { host: 'h', user: 'u', database: 'd', password: 'p' }])(
    'with a password and passwordFile is refused: %j',
    (login) => {
      const { error } = configSchema.safeParse({ client: 'postgres', passwordFile: '/run/secrets/password', ...login });
      expect(error?.issues).toEqual([expect.objectContaining({ path: ['passwordFile'] })]);
    },
  );
});
