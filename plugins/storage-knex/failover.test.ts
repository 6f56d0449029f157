import { afterAll, describe, expect, it } from '@jest/globals';
import { rejection } from '../../test/contract/runner.ts';
import { ada, newIncident } from '../../test/contract/storage/stage.ts';
import { mysqlServers } from '../../test/support/mysql.ts';
import { behindPgBouncer, pgBouncerInstalled } from '../../test/support/pgbouncer.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { mysqlStore, postgresStore, type ServerStore } from './support/store.ts';

const postgresAll = await postgresServers();
const mysqlAll = await mysqlServers();
afterAll(async () => {
  for (const server of [...postgresAll, ...mysqlAll]) await server.stop();
});
const soon = () => AbortSignal.timeout(30_000);

interface Subject {
  readonly name: string;
  make(): Promise<ServerStore>;
  /** Lets the connections that are open now refuse new incidents as a server does which is no longer the primary. */
  readonly demote: readonly string[];
}

const subjects: readonly Subject[] = [
  ...postgresAll.map((server) => ({
    name: server.name,
    make: () => postgresStore(server),
    demote: [
      'CREATE TABLE demoted AS SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
      'GRANT SELECT ON demoted TO PUBLIC',
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF pg_backend_pid() IN (SELECT pid FROM demoted) THEN RAISE read_only_sql_transaction; END IF;
         RETURN NEW;
       END $$`,
      'CREATE TRIGGER demoted BEFORE INSERT ON incidents FOR EACH ROW EXECUTE FUNCTION refuse()',
    ],
  })),
  ...mysqlAll.map((server) => ({
    name: server.name,
    make: () => mysqlStore(server),
    demote: [
      'CREATE TABLE demoted AS SELECT id FROM information_schema.processlist WHERE db = database()',
      `CREATE TRIGGER demoted BEFORE INSERT ON incidents FOR EACH ROW
         IF connection_id() IN (SELECT id FROM demoted) THEN
           SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read-only';
         END IF`,
    ],
  })),
];

describe.each(subjects)('a failover of $name', ({ make, demote }) => {
  it('leaves no connection in use to a server that takes no more changes', async () => {
    const store = await make();
    const storage = store.open();
    try {
      await storage.start(soon());
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { incidents } = storage.workspace(id);
      await incidents.create(newIncident(), ada);
      for (const statement of demote) await store.admin(statement);
      await incidents.create(newIncident(), ada);
      expect((await incidents.list({ limit: 10 })).items).toHaveLength(2);
    } finally {
      await storage.stop();
      await store.cleanup();
    }
  });
});

describe.each(postgresAll.map((server) => [server.name, server] as const))('%s', (_, server) => {
  it('is neither written to nor read from while it is a standby, and used once it is promoted', async () => {
    const store = await postgresStore(server);
    const storage = store.open();
    try {
      await storage.start(soon());
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { incidents } = storage.workspace(id);
      await incidents.create(newIncident(), ada);
      // Its sessions may only read, and those of the primary have ended.
      await store.admin(`ALTER ROLE ${store.login} SET default_transaction_read_only = on`);
      await store.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${store.login}'`);
      for (const attempt of [
        () => incidents.create(newIncident(), ada),
        () => incidents.list({ limit: 10 }),
        () => storage.directory.liveKey('ak_x', 'sec_x'),
      ]) {
        expect(await rejection(attempt())).toMatchObject({
          code: 'unavailable',
          operatorMessage: expect.stringContaining('it is read-only or a standby'),
        });
      }
      await store.admin(`ALTER ROLE ${store.login} RESET default_transaction_read_only`);
      await incidents.create(newIncident(), ada);
      expect((await incidents.list({ limit: 10 })).items).toHaveLength(2);
      expect(await storage.directory.liveKey('ak_x', 'sec_x')).toBeUndefined();
    } finally {
      await storage.stop();
      await store.cleanup();
    }
  });

  const behind = pgBouncerInstalled() ? it : it.skip;

  behind.each([['default_pool_size = 1'], ['default_pool_size = 5'], ['server_round_robin = 1']])(
    'is refused by name behind PgBouncer with pool_mode = transaction, %s',
    async (setting) => {
      const store = await postgresStore(server);
      const settings = ['pool_mode = transaction', setting];
      await behindPgBouncer({ server, ...store, settings }, async (url) => {
        const storage = store.open({}, { url });
        expect(await rejection(storage.start(soon()))).toMatchObject({
          code: 'config_invalid',
          message: expect.stringContaining('pooler in transaction mode'),
          hint: expect.stringContaining('pool_mode = session'),
        });
        await storage.stop();
      });
      await store.cleanup();
    },
  );

  behind('serves behind PgBouncer with pool_mode = session, and outlives its restart', async () => {
    const store = await postgresStore(server);
    const settings = ['pool_mode = session', 'default_pool_size = 20'];
    await behindPgBouncer({ server, ...store, settings }, async (url) => {
      const storage = store.open({}, { url });
      await storage.start(soon());
      const { id } = await storage.directory.createOrganization({ name: 'Acme' });
      const { incidents } = storage.workspace(id);
      await incidents.create(newIncident(), ada);
      await store.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${store.login}'`);
      await incidents.create(newIncident(), ada);
      expect((await incidents.list({ limit: 10 })).items).toHaveLength(2);
      await storage.stop();
    });
    await store.cleanup();
  });
});
