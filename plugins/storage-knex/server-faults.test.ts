import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { rejection } from '../../test/contract/runner.ts';
import { newIncident, ada } from '../../test/contract/storage/stage.ts';
import type { DatabaseServer } from '../../test/support/database-server.ts';
import { listen } from '../../test/support/listen.ts';
import { mysqlServers, ownMysqlServers, type MysqlServer } from '../../test/support/mysql.ts';
import { everyPostgresServer, type PostgresServer } from '../../test/support/postgres.ts';
import { explain as explainMysql } from './mysql/errors.ts';
import { explain as explainPostgres } from './postgres/errors.ts';
import { settingsOf } from './config.ts';
import { Database } from './database.ts';
import { migrations } from './migrations/run.ts';
import { connectionOf, mysqlStore, postgresStore, serverConfig, type ServerStore } from './support/store.ts';

const postgresAll = await everyPostgresServer();
const mysqlAll = await mysqlServers();
afterAll(async () => {
  for (const server of [...postgresAll, ...mysqlAll]) await server.stop();
});

const soon = () => AbortSignal.timeout(30_000);

/** How an operator is told of a start that fails; the driver's own words and the password stay out of it. */
async function told(store: ServerStore, changes: object): Promise<string> {
  const storage = store.open({}, changes);
  const error = await rejection(storage.start(soon()));
  await storage.stop();
  if (!(error instanceof SightlineError)) throw error;
  expect(error).toMatchObject({ code: 'unavailable', message: 'The storage of this workspace cannot be used now.' });
  expect(inspect(error, { depth: 9 })).not.toContain(store.password);
  return error.operatorMessage ?? '';
}

const subjects: readonly (readonly [string, () => Promise<ServerStore>, Faults])[] = [
  ...postgresAll.map((server) => [server.name, () => postgresStore(server), postgresFaults(server)] as const),
  ...mysqlAll.map((server) => [server.name, () => mysqlStore(server), mysqlFaults(server)] as const),
];

interface Faults {
  /** Of servers that ask for one. */
  readonly password?: string;
  readonly tls: string;
  readonly readOnly?: (store: ServerStore) => Promise<unknown>;
  full(store: ServerStore): Promise<void>;
}

for (const [name, make, faults] of subjects) {
  describe(`a start on ${name}`, () => {
    let store: ServerStore | undefined;
    const use = async (): Promise<ServerStore> => (store ??= await make());
    afterAll(async () => {
      await store?.cleanup();
    });

    it('that finds nobody says where it looked, as whom', async () => {
      const { login, database, config } = await use();
      const probe = createServer();
      const port = await listen(probe);
      await new Promise((resolve) => probe.close(resolve));
      const url = new URL(config.url ?? '');
      url.port = String(port);
      expect(await told(await use(), { url: url.href })).toBe(
        `The storage (database ${database} at 127.0.0.1:${port}, login ${login}) cannot be used: nothing listens there. ` +
          'Check that the server runs, and its host and port.',
      );
    });

    it('that reaches a server which says nothing ends in time', async () => {
      const silent = createServer(() => {});
      const url = new URL((await use()).config.url ?? '');
      url.port = String(await listen(silent));
      expect(await told(await use(), { url: url.href })).toContain('the server does not answer');
      silent.close();
    });

    it('with a name that is none says so', async () => {
      const url = new URL((await use()).config.url ?? '');
      url.hostname = 'no-such-host.invalid';
      expect(await told(await use(), { url: url.href })).toContain("the host's name cannot be resolved");
    });

    it('in a database that is not there says so', async () => {
      const url = new URL((await use()).config.url ?? '');
      url.pathname = '/sl_not_there';
      expect(await told(await use(), { url: url.href })).toMatch(/there is no such database|the login lacks a right/);
    });

    it('with TLS that is not offered says so', async () => {
      expect(await told(await use(), { ssl: true })).toContain(faults.tls);
    });

    const { password } = faults;
    if (password !== undefined) {
      it('with a wrong password says so', async () => {
        const url = new URL((await use()).config.url ?? '');
        url.password = 'wrong';
        expect(await told(await use(), { url: url.href })).toContain(password);
      });
    }

    const { readOnly } = faults;
    if (readOnly !== undefined) {
      it('as a login that may change nothing says so', async () => {
        const other = await make();
        await readOnly(other);
        expect(await told(other, {})).toContain('read-only');
        await other.cleanup();
      });
    }

    it('beside too many connections says so', async () => {
      const other = await make();
      await faults.full(other);
      const first = other.open({}, { pool: { max: 3 } });
      const busy = [first, ...Array.from({ length: 4 }, () => other.open())];
      const outcomes = await Promise.allSettled(busy.map((storage) => storage.start(soon())));
      expect(outcomes).toContainEqual(
        expect.objectContaining({
          reason: expect.objectContaining({
            operatorMessage: expect.stringContaining('the server has too many connections'),
          }),
        }),
      );
      for (const storage of busy) await storage.stop();
      await other.cleanup();
    });
  });
}

function postgresFaults(server: PostgresServer): Faults {
  return {
    // The machine's own may trust whoever comes from here.
    ...(server.restart !== undefined && { password: 'the password is wrong' }),
    tls: server.restart === undefined ? 'storage' : 'the server does not offer TLS',
    readOnly: ({ login }) => server.admin(`ALTER ROLE ${login} SET default_transaction_read_only = on`),
    async full({ login }) {
      await server.admin(`ALTER ROLE ${login} CONNECTION LIMIT 1`);
    },
  };
}

function mysqlFaults(server: MysqlServer): Faults {
  return {
    password: 'the login or its password is wrong',
    tls: 'the server does not offer TLS',
    async full({ login }) {
      await server.admin(`ALTER USER ${login} WITH MAX_USER_CONNECTIONS 1`);
    },
  };
}

describe.each(postgresAll)('a database on $name that lacks most characters', (server) => {
  it('is refused at the start, and the encoding named', async () => {
    const store = await postgresStore(server);
    const { login, password } = store;
    const database = `${store.database}_latin1`;
    await server.admin(
      `CREATE DATABASE ${database} OWNER ${login} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    const storage = store.open({}, { url: server.url(database, login, password) });
    try {
      const error = await rejection(storage.start(soon()));
      expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining('LATIN1') });
    } finally {
      await storage.stop();
      await server.drop(database);
      await store.cleanup();
    }
  });
});

const own: readonly {
  readonly name: string;
  readonly server: DatabaseServer;
  make(): Promise<ServerStore>;
}[] = [
  ...postgresAll
    .filter(({ halt }) => halt)
    .map((server) => ({ name: server.name, server, make: () => postgresStore(server) })),
  ...(await ownMysqlServers()).map((server) => ({ name: server.name, server, make: () => mysqlStore(server) })),
];
afterAll(async () => {
  for (const { server } of own) await server.stop();
});

describe.each(own)('a server ($name) that stops and comes back', ({ server, make }) => {
  it('is missed in a sentence, and used again without a restart of ours', async () => {
    const store = await make();
    const storage = store.open();
    try {
      await storage.start(soon());
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { incidents } = storage.workspace(id);
      await incidents.create(newIncident(), ada);
      await server.halt?.();
      for (const attempt of [
        () => incidents.create(newIncident(), ada),
        () => incidents.list({ limit: 10 }),
        () => storage.directory.liveKey('ak_x', 'sec_x'),
      ]) {
        const error = await rejection(attempt());
        expect(error).toMatchObject({
          code: 'unavailable',
          operatorMessage: expect.stringContaining('cannot be used'),
        });
      }
      expect((await storage.health(soon())).ok).toBe(false);
      await server.restart?.();
      await incidents.create(newIncident(), ada);
      expect((await incidents.list({ limit: 10 })).items.map(({ key }) => key)).toEqual(
        expect.arrayContaining(['INC-1', 'INC-2']),
      );
      expect(await storage.directory.liveKey('ak_x', 'sec_x')).toBeUndefined();
      expect(await storage.health(soon())).toEqual({ ok: true });
    } finally {
      await storage.stop();
      await store.cleanup();
    }
  });
});

const hurried: readonly (readonly [
  string,
  () => Promise<ServerStore>,
  (store: ServerStore) => Promise<() => Promise<void>>,
])[] = [
  ...postgresAll.map(
    (server) =>
      [
        server.name,
        () => postgresStore(server),
        async ({ login }: ServerStore) => {
          const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
          if (Number(/\d+/.exec(server.name)?.[0]) >= 17) limits.push('transaction_timeout');
          for (const limit of limits) await server.admin(`ALTER ROLE ${login} SET ${limit} = 100`);
          await server.admin(`ALTER ROLE ${login} SET idle_session_timeout = 300`);
          await server.admin(`ALTER ROLE ${login} SET default_transaction_isolation = 'serializable'`);
          return async () => {};
        },
      ] as const,
  ),
  ...own
    .filter(({ name }) => name.startsWith('MariaDB'))
    .map(
      ({ name, server, make }) =>
        [
          name,
          make,
          async () => {
            const limits = { max_statement_time: 0.001, innodb_lock_wait_timeout: 0, lock_wait_timeout: 0 };
            const idle = { wait_timeout: 1, idle_transaction_timeout: 1, idle_write_transaction_timeout: 1 };
            for (const [limit, value] of Object.entries({ ...limits, ...idle })) {
              await server.admin(`SET GLOBAL ${limit} = ${value}`);
            }
            return async () => void (await server.admin('SET GLOBAL max_statement_time = 0'));
          },
        ] as const,
    ),
];

/** Longer than each of the limits. */
const waitMs = 1_100;

describe.each(hurried)('a server (%s) whose administrator has set low limits of time', (_, make, set) => {
  it('is migrated, waited for, written to after a rest and exported, by limits of our own', async () => {
    const store = await make();
    const takeBack = await set(store);
    const storage = store.open();
    const other = new Database(connectionOf(store.config));
    try {
      await storage.start(soon());
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { incidents } = storage.workspace(id);
      for (const restMs of [0, 600]) {
        await sleep(restMs);
        await Promise.all([1, 2, 3].map(() => incidents.create(newIncident(), ada)));
        expect(await storage.directory.liveKey('ak_x', 'sec_x')).toBeUndefined();
      }
      const holding = Promise.withResolvers<void>();
      const held = other.scoped(id).write(async (scope) => {
        await scope.next('numbers of a test');
        holding.resolve();
        await sleep(waitMs);
        await scope.next('numbers of a test');
      });
      await holding.promise;
      await Promise.all([incidents.create(newIncident(), ada), held]);
      expect((await incidents.list({ limit: 100 })).items).toHaveLength(7);
      const tables = await storage.transfer.snapshot([], async (snapshot) => {
        const seen: unknown[] = [];
        for await (const batch of snapshot.batches()) {
          if (seen.length === 0) await sleep(waitMs);
          seen.push(batch);
        }
        return seen;
      });
      expect(tables).not.toEqual([]);
    } finally {
      await other.close();
      await storage.stop();
      await takeBack();
      await store.cleanup();
    }
  });
});

describe.each(own.filter(({ name }) => name.startsWith('MariaDB')))(
  'a server ($name) that commits nothing by itself',
  ({ server, make }) => {
    it('is migrated once, and started on again', async () => {
      const store = await make();
      await server.admin('SET GLOBAL autocommit = 0');
      try {
        for (const applied of [migrations.map(([name]) => name), []]) {
          const storage = store.open();
          expect((await storage.migrate()).applied).toEqual(applied);
          await storage.stop();
        }
      } finally {
        await server.admin('SET GLOBAL autocommit = 1');
        await store.cleanup();
      }
    });
  },
);

describe('what a server says of its state', () => {
  it('is told to the operator, with what to do', () => {
    const postgres = settingsOf(serverConfig({ client: 'postgres', url: 'postgres://u:p@h/d' }));
    const mysql = settingsOf(serverConfig({ client: 'mysql', url: 'mysql://u:p@h/d' }));
    const full = 'the disk of the server is full. Free some space; what was stored is intact.';
    expect(explainPostgres(Object.assign(new Error('x'), { code: '53100' }), postgres)?.operatorMessage).toContain(
      full,
    );
    expect(explainMysql(Object.assign(new Error('x'), { errno: 1021 }), mysql)?.operatorMessage).toContain(full);
    expect(explainMysql(Object.assign(new Error('x'), { errno: 1290 }), mysql)?.operatorMessage).toContain('read-only');
    for (const bug of [new TypeError('a bug'), 'text', undefined]) {
      expect(explainPostgres(bug, postgres)).toBeUndefined();
      expect(explainMysql(bug, mysql)).toBeUndefined();
    }
  });
});
