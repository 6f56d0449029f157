import { setTimeout as delay } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { inspect, promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId, SightlineError } from '../../src/contract/core/index.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { testHost } from '../../test/contract/host.ts';
import { rejection } from '../../test/contract/runner.ts';
import { ada, newAuditRecord, newChat, newIncident, newKey } from '../../test/contract/storage/stage.ts';
import { mysqlServers } from '../../test/support/mysql.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { AuditChains } from './audit-chains.ts';
import { Database } from './database.ts';
import type { Statements } from './transact.ts';
import { migrations } from './migrations/run.ts';
import { eraseStatements } from './repositories/erasures.ts';
import { settingsOf } from './config.ts';
import { CountingProxy } from './support/round-trips.ts';
import { connectionOf, mysqlStore, postgresStore, serverConfig, type ServerStore } from './support/store.ts';

const run = promisify(execFile);

interface Subject {
  readonly name: string;
  make(): Promise<ServerStore>;
  /** Cuts every connection that the store's login has now. */
  cut(store: ServerStore): Promise<void>;
  readonly tables: string;
}

const postgresAll = await postgresServers();
const mysqlAll = await mysqlServers();
afterAll(async () => {
  for (const server of [...postgresAll, ...mysqlAll]) await server.stop();
});

const subjects: readonly Subject[] = [
  ...postgresAll.map((server) => ({
    name: server.name,
    make: () => postgresStore(server),
    async cut({ login }: ServerStore) {
      await server.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${login}'`);
    },
    tables: `SELECT table_name, column_name, data_type, collation_name, is_nullable FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1, 2`,
  })),
  ...mysqlAll.map((server) => ({
    name: server.name,
    make: () => mysqlStore(server),
    async cut({ login }: ServerStore) {
      for (const [id] of await server.admin(`SELECT id FROM information_schema.processlist WHERE user = '${login}'`)) {
        // One that has ended by itself meanwhile is cut as well.
        await server.admin(`KILL ${Number(id)}`).catch(() => {});
      }
    },
    tables: `SELECT table_name, column_name, column_type, collation_name, is_nullable FROM information_schema.columns
      WHERE table_schema = database() ORDER BY 1, 2`,
  })),
];

const soon = () => AbortSignal.timeout(60_000);

for (const { name, make, cut, tables } of subjects) {
  describe(`a store on ${name}`, () => {
    let store: ServerStore;
    let opened: { stop(): Promise<void> }[];

    beforeEach(async () => {
      store = await make();
      opened = [];
    });
    afterEach(async () => {
      for (const storage of opened) await storage.stop();
      await store.cleanup();
    });

    /** The storage by way of a network that counts. */
    async function overNetwork(
      changes: object,
      work: (storage: Storage, network: CountingProxy) => Promise<void>,
    ): Promise<void> {
      const { host, port } = settingsOf(store.config);
      const network = new CountingProxy(host, port);
      const url = new URL(store.config.url ?? '');
      url.port = String(await network.open());
      try {
        const storage = await start({ ...changes, url: url.href });
        await work(storage, network);
        await storage.stop();
      } finally {
        await network.close();
      }
    }

    const open = (changes: object = {}): Storage => {
      const storage = store.open({}, changes);
      opened.push(storage);
      return storage;
    };
    const start = async (changes: object = {}): Promise<Storage> => {
      const storage = open(changes);
      await storage.start(soon());
      return storage;
    };
    /** The database beneath, without repositories. */
    const beneath = () => {
      const connection = connectionOf(store.config);
      const database = new Database(connection);
      opened.push({ stop: () => database.close() });
      return { connection, database };
    };

    it('is migrated once when several start at the same time', async () => {
      const reports = await Promise.all([open(), open(), open(), open()].map((storage) => storage.migrate()));
      const applied = reports.flatMap((report) => report.applied);
      expect(applied).toEqual(migrations.map(([migration]) => migration));
    });

    it('is migrated once by processes of their own that start at the same time', async () => {
      const script = `
        const { module, config, dataDirectory, host } = JSON.parse(process.argv[1]);
        const { testHost } = await import(host);
        const { default: plugin } = await import(module);
        const storage = plugin.create(plugin.configSchema.parse(config), testHost(dataDirectory));
        console.log(JSON.stringify((await storage.migrate()).applied));
        await storage.stop();`;
      const host = new URL('../../test/contract/host.ts', import.meta.url).href;
      const argument = JSON.stringify({ ...store.process, host });
      const outputs = await Promise.all(
        [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', script, argument])),
      );
      const applied = outputs.flatMap(({ stdout }): readonly string[] => JSON.parse(stdout));
      expect(applied).toEqual(migrations.map(([migration]) => migration));
    });

    it('says what a migration would do, and does not do it', async () => {
      const storage = open();
      const names = migrations.map(([migration]) => migration);
      expect(await storage.planMigration()).toEqual({ pending: names, version: names.at(-1) });
      expect(await store.admin(tables)).toEqual([]);
      await storage.migrate();
      expect(await storage.planMigration()).toEqual({ pending: [], version: names.at(-1) });
    });

    it('is whole in the end, however often a migration is killed', async () => {
      const script = `
        const { module, config, dataDirectory, host } = JSON.parse(process.argv[1]);
        const { testHost } = await import(host);
        const { default: plugin } = await import(module);
        const storage = plugin.create(plugin.configSchema.parse(config), testHost(dataDirectory));
        process.stdout.write('begun');
        await storage.migrate();
        await storage.stop();`;
      const host = new URL('../../test/contract/host.ts', import.meta.url).href;
      for (const afterMs of [40, 90, 160, 300, 600]) {
        const argument = JSON.stringify({ ...store.process, host });
        const child = execFile(process.execPath, ['--input-type=module', '-e', script, argument]);
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs));
        await exited;
      }
      await start();
      const fresh = await make();
      const other = fresh.open();
      await other.start(soon());
      await other.stop();
      expect(await store.admin(tables)).toEqual(await fresh.admin(tables));
      await fresh.cleanup();
      expect((await store.admin(`SELECT count(*) FROM locks`)).map(([count]) => Number(count))).toEqual([2]);
    }, 120_000);

    it('is refused when its schema is of a newer version, and not touched', async () => {
      await (await start()).stop();
      await store.admin(`INSERT INTO schema_migrations (name, migration_time) VALUES ('9999-future', 0)`);
      for (const attempt of [() => open().migrate(), () => open().start(soon()), () => open().planMigration()]) {
        const error = await rejection(attempt());
        expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('9999-future') });
      }
    });

    it('loses and doubles nothing of what many do to one organization at once', async () => {
      const replicas = [await start(), await start(), await start()];
      const [first] = replicas;
      const { id } = await (first ?? open()).directory.createOrganization({ name: 'Acme' });
      const made = await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          const { incidents, chats, scans } = (replicas[index % 3] ?? open()).workspace(id);
          if (index % 3 === 0) return scans.add('2026-03-01', 7).then(() => undefined);
          if (index % 4 === 0) return chats.start(newChat({ idempotencyKey: `k${index % 8}` })).then(() => undefined);
          return incidents.create(newIncident({ fingerprint: `f${index % 10}` }), ada);
        }),
      );
      const { incidents, chats, scans } = (first ?? open()).workspace(id);
      const { items } = await incidents.list({ limit: 100 });
      const wanted = new Set(made.flatMap((incident) => (incident === undefined ? [] : [incident.id])));
      expect(new Set(items.map((incident) => incident.id))).toEqual(wanted);
      expect(items.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(items.map((_, index) => index + 1));
      expect(new Set(items.map(({ fingerprint }) => fingerprint)).size).toBe(items.length);
      expect(await scans.total('2026-03-01')).toBe(20 * 7);
      expect((await chats.list({ limit: 100 })).items).toHaveLength(2);
    });

    it('lets one transaction write for an organization at a time, whichever process began it, and others beside it', async () => {
      const { directory } = await start();
      const [acme, globex] = [
        await directory.createOrganization({ name: 'Acme' }),
        await directory.createOrganization({ name: 'Globex' }),
      ];
      const replicas = [beneath().database, beneath().database];
      const active = new Map<string, number>();
      let [most, together] = [0, 0];
      const work = async (id: string): Promise<void> => {
        active.set(id, (active.get(id) ?? 0) + 1);
        most = Math.max(most, active.get(id) ?? 0);
        together = Math.max(together, [...active.values()].filter((count) => count > 0).length);
        await new Promise((resolve) => setTimeout(resolve, 10));
        active.set(id, (active.get(id) ?? 0) - 1);
      };
      await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const database = index % 2 === 0 ? replicas[0] : replicas[1];
          const { id } = index % 4 < 2 ? acme : globex;
          if (index % 3 > 0) return await database?.scoped(id).write(() => work(id));
          await database?.write(async (_knex, enter) => {
            await enter(id);
            await work(id);
          });
        }),
      );
      expect({ most, together }).toEqual({ most: 1, together: 2 });
    });

    it('does a transaction again that was taken back, and adds nothing twice', async () => {
      await start();
      const { database } = beneath();
      const rows = ['a', 'b'].map((row) => ({ name: row, taken: 0 }));
      await database.write((knex) => knex('locks').insert(rows));
      let begun = 0;
      const add = (order: readonly string[]) =>
        database.write(async (knex) => {
          begun += 1;
          for (const row of order) {
            await knex('locks').where({ name: row }).increment('taken', 1);
            // Long enough for the other to have taken its first row: they wait for each other.
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        });
      await Promise.all([add(['a', 'b']), add(['b', 'a']), add(['a', 'b']), add(['b', 'a'])]);
      expect(begun).toBeGreaterThan(4);
      const counted = await database.read((knex) => knex('locks').whereIn('name', ['a', 'b']).select('taken'));
      expect(counted.map(({ taken }) => Number(taken))).toEqual([4, 4]);
    });

    it('tells of the statement that failed, however soon the others sent with it are refused', async () => {
      await start();
      const { database } = beneath();
      const row = { name: 'twice', taken: 0 };
      await database.write((knex) => knex('locks').insert(row));
      const twice = database.write(
        async (knex) => {
          const later = async (): Promise<void> => {
            try {
              await knex('locks').insert(row);
            } finally {
              for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
            }
          };
          // Both answers lie there before one is read, as on a busy machine.
          const busy = async (): Promise<void> => {
            await delay(0);
            for (const until = performance.now() + 200; performance.now() < until;);
          };
          await Promise.all([later(), knex('locks').select('name'), busy()]);
        },
        { duplicate: new SightlineError('conflict', 'There is one.') },
      );
      expect(await rejection(twice)).toMatchObject({ code: 'conflict' });
    });

    it('goes on when its connections are cut: reads, look-ups and writes that were not being committed', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const workspace = storage.workspace(id);
      const key = newKey();
      await workspace.keys.create(key);
      for (let round = 0; round < 5; round += 1) {
        await Promise.all([workspace.keys.list(), storage.directory.liveKey(key.id, key.secret.id)]);
        await cut(store);
        const [listed, live] = await Promise.all([
          workspace.keys.list(),
          storage.directory.liveKey(key.id, key.secret.id),
        ]);
        expect([listed.length, live?.organizationId]).toEqual([1, id]);
        await workspace.incidents.create(newIncident(), ada);
      }
      expect((await workspace.incidents.list({ limit: 10 })).items).toHaveLength(5);
    });

    it('does a write again whose connection was cut in the middle, and keeps it once', async () => {
      await start();
      const { database } = beneath();
      let attempts = 0;
      await database.write(async (knex) => {
        attempts += 1;
        await knex('locks').insert({ name: `attempt ${attempts}`, taken: 0 });
        if (attempts === 1) await cut(store);
        await knex('locks').where({ name: 'signing_keys' }).increment('taken', 1);
      });
      expect(attempts).toBe(2);
      const names = await database.read((knex) =>
        knex('locks').where('name', 'like', 'attempt%').select('name', 'taken'),
      );
      expect(names.map((row) => row.name)).toEqual(['attempt 2']);
    });

    it('repeats audit records whose commit may have arrived, and keeps them once and chained', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { database, connection } = beneath();
      const scoped = database.scoped(id);
      const chains = new AuditChains(testHost('.'));
      const transaction = connection.write.bind(connection);
      const losing = (arrives: boolean) => {
        connection.write = async (reach, work) => {
          const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          if (arrives) {
            await transaction(reach, work);
            throw lost;
          }
          return transaction(reach, async (knex) => {
            await work(knex);
            throw lost;
          });
        };
      };
      const numbered = (number: number) => ({ ...newAuditRecord(), requestId: String(number) });
      await chains.append(scoped, [numbered(1)]);
      const [arrived, undone] = [numbered(2), numbered(3)];
      losing(true);
      expect(await rejection(chains.append(scoped, [arrived]))).toMatchObject({ code: 'unavailable' });
      connection.write = transaction;
      await chains.append(scoped, [arrived, numbered(4)]);
      losing(false);
      expect(await rejection(chains.append(scoped, [undone]))).toMatchObject({ code: 'unavailable' });
      connection.write = transaction;
      await chains.append(scoped, [undone, numbered(5)]);
      // Somebody else's record comes before the one in doubt is repeated, and the repetition is in doubt itself.
      const another = numbered(6);
      losing(true);
      expect(await rejection(chains.append(scoped, [another]))).toMatchObject({ code: 'unavailable' });
      connection.write = transaction;
      await chains.append(scoped, [numbered(7)]);
      losing(false);
      expect(await rejection(chains.append(scoped, [another, numbered(8)]))).toMatchObject({ code: 'unavailable' });
      connection.write = transaction;
      await chains.append(scoped, [another, numbered(9)]);
      const { audit } = storage.workspace(id);
      const kept = await audit.records({ chain: 1, after: 0, limit: 20 });
      expect(kept.map((each) => [each.seq, each.record.requestId])).toEqual([
        [1, '1'],
        [2, '2'],
        [3, '4'],
        [4, '3'],
        [5, '5'],
        [6, '6'],
        [7, '7'],
        [8, '9'],
      ]);
      expect(await audit.chains({ after: 0, limit: 10 })).toHaveLength(1);
    });

    it('waits for audit records whose commit is still under way, and keeps them once and chained', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { database, connection } = beneath();
      const behind = beneath().connection;
      const scoped = database.scoped(id);
      const chains = new AuditChains(testHost('.'));
      const numbered = (number: number) => ({ ...newAuditRecord(), requestId: String(number) });
      await chains.append(scoped, [numbered(1)]);
      const [sent, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const transaction = connection.write.bind(connection);
      let committed: Promise<unknown> | undefined;
      // The connection breaks behind the COMMIT, which takes the server its time.
      connection.write = async (reach, work) => {
        committed = behind.write(reach, async (knex) => {
          await work(knex);
          sent.resolve();
          await release.promise;
        });
        await sent.promise;
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      };
      const slow = numbered(2);
      expect(await rejection(chains.append(scoped, [slow]))).toMatchObject({ code: 'unavailable' });
      connection.write = transaction;
      const repeated = chains.append(scoped, [slow, numbered(3)]);
      await delay(300);
      release.resolve();
      await Promise.all([committed, repeated]);
      const { audit } = storage.workspace(id);
      expect(await audit.chains({ after: 0, limit: 10 })).toHaveLength(1);
      const kept = await audit.records({ chain: 1, after: 0, limit: 20 });
      expect(kept.map((each) => [each.seq, each.record.requestId])).toEqual([
        [1, '1'],
        [2, '2'],
        [3, '3'],
      ]);
    });

    it('lets a snapshot take longer than a statement may', async () => {
      await start();
      const connection = connectionOf(serverConfig({ ...store.config, statementTimeoutSeconds: 0.2 }));
      opened.push({ stop: () => connection.close() });
      const wait = /^postgres/i.test(name) ? 'select pg_sleep(?)' : 'select sleep(?) as slept';
      const answer = await connection.snapshot((knex) => knex.raw(wait, [0.6]));
      expect(JSON.stringify(answer)).not.toContain('"slept":1');
    });

    it('erases the statements of deleted people with looks at a bounded number of records each', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { audit } = storage.workspace(id);
      const [userId, keyId] = [newId('usr'), newId('ak')];
      const record = newAuditRecord();
      await audit.append([
        { ...record, event: 'key.created', subject: userId, target: keyId },
        { ...record, subject: keyId, statement: 'select 1' },
        { ...record, subject: userId, statement: 'select 2' },
        { ...record, subject: newId('usr'), statement: 'select 3' },
      ]);
      const { database, connection } = beneath();
      const erasure = { id: newId('usr'), user_id: userId, organization_id: null, subjects: userId, created_at: 0 };
      await database.write((knex) => knex('erasures').insert(erasure));
      const looks: string[] = [];
      connection.reader.on('query', ({ sql }: { readonly sql: string }) => {
        if (/from .audit. where/.test(sql)) looks.push(sql);
      });
      await eraseStatements(database, testHost('.').vault);
      expect((await audit.list({ limit: 10 })).flatMap(({ statement = [] }) => statement)).toEqual(['select 3']);
      expect(looks.length).toBeGreaterThan(1);
      for (const look of looks) expect(look).toMatch(/.id. >= .+ and .id. <= /);
    });

    it('does not repeat a write whose commit may have arrived', async () => {
      await start();
      const { database, connection } = beneath();
      let attempts = 0;
      const transaction = connection.write.bind(connection);
      connection.write = async (reach, work) => {
        attempts += 1;
        await transaction(reach, work);
        // The answer to the COMMIT is what gets lost.
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      };
      const error = await rejection(database.write((knex) => knex('locks').insert({ name: 'once', taken: 0 })));
      expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('may be kept or not') });
      expect(attempts).toBe(1);
    });

    it('does not wait for a process that stands still in the middle of a change', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { database } = beneath();
      const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = rejection(
        database.scoped(id).write(async (scope) => {
          await scope.next('stands still');
          entered.resolve();
          await release.promise;
          await scope.next('stands still');
        }),
      );
      await entered.promise;
      const { incidents } = storage.workspace(id);
      await Promise.all([incidents.create(newIncident(), ada), incidents.create(newIncident(), ada)]);
      release.resolve();
      expect(await held).toMatchObject({ code: 'unavailable' });
    });

    it('says in time that all connections are taken, and serves others meanwhile', async () => {
      await start();
      const { database } = beneath();
      const storage = await start({ pool: { acquireTimeoutSeconds: 1, max: 4 }, statementTimeoutSeconds: 3 });
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const other = await storage.directory.createOrganization({ name: 'Globex' });
      const key = newKey();
      await storage.workspace(id).keys.create(key);
      const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = database.write(async (_, enter) => {
        await enter(id);
        entered.resolve();
        await release.promise;
      });
      await entered.promise;
      const late = await Promise.allSettled(
        Array.from({ length: 8 }, () => storage.workspace(id).incidents.create(newIncident(), ada)),
      );
      const told = late.filter(({ status }) => status === 'rejected');
      expect(told).toHaveLength(8);
      for (const outcome of told) {
        expect(outcome).toMatchObject({ reason: { code: 'unavailable', retryAfterSeconds: expect.any(Number) } });
      }
      // Neither reads nor look-ups wait for those who write.
      expect(await storage.directory.liveKey(key.id, key.secret.id)).toBeDefined();
      expect(await storage.workspace(other.id).keys.list()).toEqual([]);
      release.resolve();
      await held;
      await storage.workspace(id).incidents.create(newIncident(), ada);
    });

    it('lets 64 callers look up and read over few connections, each to its end', async () => {
      const storage = await start({ pool: { max: 8 } });
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const key = newKey();
      await storage.workspace(id).keys.create(key);
      const rounds = await Promise.all(
        Array.from({ length: 64 }, async (_, caller) => {
          let done = 0;
          for (let round = 0; round < 10; round += 1) {
            if ((await storage.directory.liveKey(key.id, key.secret.id)) !== undefined) done += 1;
            if (caller % 4 === 0) await storage.workspace(id).audit.append([newAuditRecord()]);
            if (caller % 4 === 1) await storage.workspace(id).keys.list();
          }
          return done;
        }),
      );
      expect(rounds).toEqual(Array.from({ length: 64 }, () => 10));
      expect(await storage.workspace(id).audit.list({ limit: 1_000 })).toHaveLength(160);
    });

    it('looks up what a token stands for in one round trip', async () => {
      const { id } = await (await start()).directory.createOrganization({ name: 'Acme' });
      const key = newKey();
      await overNetwork({}, async (storage, network) => {
        await storage.workspace(id).keys.create(key);
        const ask = () => storage.directory.liveKey(key.id, key.secret.id);
        // The first opens the connection and prepares the statement.
        await ask();
        const before = network.roundTrips;
        for (let turn = 0; turn < 5; turn += 1) expect(await ask()).toBeDefined();
        expect(network.roundTrips - before).toBe(5);
        // The same from many in one turn of the event loop is asked once: they share the very answer.
        const found = await Promise.all(Array.from({ length: 20 }, ask));
        expect([found.length, new Set(found).size]).toEqual([20, 1]);
        expect(found[0]).not.toBe(await ask());
        expect(found[0]).toEqual(await ask());
      });
    });

    // PostgreSQL answers what is said at once in one round trip; MariaDB's protocol has an answer for each statement.
    it(`starts a chat in ${/^postgres/i.test(name) ? 'four' : 'eleven'} round trips at most`, async () => {
      const { id } = await (await start()).directory.createOrganization({ name: 'Acme' });
      const author = { kind: 'key', id: newId('ak'), name: 'nightly' } as const;
      await overNetwork({}, async (storage, network) => {
        const { chats } = storage.workspace(id);
        const ask = () =>
          chats.start({ title: 'Why?', message: 'Why?', author, engine: 'playbook', idempotencyKey: newId('msg') });
        // The first opens the connection.
        await ask();
        const before = network.roundTrips;
        await ask();
        expect(network.roundTrips - before).toBeLessThanOrEqual(/^postgres/i.test(name) ? 4 : 11);
      });
    });

    it('reads in two round trips at most', async () => {
      const { id } = await (await start()).directory.createOrganization({ name: 'Acme' });
      await overNetwork({}, async (storage, network) => {
        const { keys } = storage.workspace(id);
        // The first opens the connection.
        await keys.list();
        for (let turn = 0; turn < 3; turn += 1) {
          // Nobody waits for the end of a transaction that only reads, but the next one does.
          await delay(100);
          const before = network.roundTrips;
          expect(await keys.list()).toEqual([]);
          expect(network.roundTrips - before).toBeLessThanOrEqual(2);
        }
      });
    });

    it('says in time that a network swallows what is sent, and serves again when it no longer does', async () => {
      const { id } = await (await start()).directory.createOrganization({ name: 'Acme' });
      const key = newKey();
      await overNetwork({ statementTimeoutSeconds: 0.5 }, async (storage, network) => {
        const { keys } = storage.workspace(id);
        await keys.create(key);
        const asks = [
          () => storage.directory.liveKey(key.id, key.secret.id),
          () => keys.list(),
          () => keys.create(newKey()),
        ];
        await asks[0]?.();
        network.swallows = true;
        const told = await Promise.all(asks.map((ask) => rejection(ask())));
        for (const error of told) expect(error).toMatchObject({ code: 'unavailable' });
        network.swallows = false;
        expect(await storage.directory.liveKey(key.id, key.secret.id)).toBeDefined();
        expect(await keys.list()).toHaveLength(1);
        await keys.create(newKey());
      });
    });

    it('takes a text for itself alone: neither case, accents nor trailing spaces make it another', async () => {
      const { directory } = await start();
      const artifact = { model: 'Session', payload: '{}', expiresAt: new Date(Date.now() + 60_000) };
      await directory.artifacts.upsert({ ...artifact, id: 'Key', uid: 'u' });
      for (const id of ['key', 'KEY', 'Kéy', 'Key ', ' Key']) {
        expect(await directory.artifacts.find('Session', id)).toBeUndefined();
        await directory.artifacts.upsert({ ...artifact, id });
      }
      expect(await directory.artifacts.findBy('Session', 'uid', 'u ')).toBeUndefined();
    });

    it('reads over connections that cannot write', async () => {
      await start();
      const { database } = beneath();
      const error = await rejection(database.read((knex) => knex('locks').insert({ name: 'x', taken: 0 })));
      expect(error).toMatchObject({ code: 'unavailable', operatorMessage: expect.stringContaining('read-only') });
    });

    it('keeps the values of a statement, and the password, out of the error, which goes to the log', async () => {
      const storage = await start();
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const token = { id: newId('it'), hash: 'H4SH', sealed: 'S34LED', createdBy: 'ada' };
      await storage.workspace(id).ingestTokens.create(token);
      const { database } = beneath();
      const insert = (row: object) => (knex: Statements) => knex('ingest_tokens').insert({ ...token, ...row });
      const own = { organization_id: id, position: 9, created_at: 0 };
      const rows = [
        { ...own, hash: 'H4SH' },
        { ...own, id: 'H4SH'.repeat(50) },
        { ...own, id: newId('it'), created_at: 'H4SH' },
        { ...own, nothing: 'H4SH' },
        { ...own, id: newId('it'), hash: 'other', organization_id: 'H4SH' },
      ];
      for (const row of rows) {
        const error = await rejection(database.write(insert(row)));
        expect(error).toBeInstanceOf(SightlineError);
        expect(inspect(error, { depth: 9 })).not.toMatch(new RegExp(`H4SH|S34LED|${store.password}`));
      }
    });
  });
}
