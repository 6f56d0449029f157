import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type OrganizationId } from '../../src/contract/core/index.ts';
import type { Storage } from '../../src/contract/storage/index.ts';
import { rejection } from '../../test/contract/runner.ts';
import { silentLogger } from '../../test/contract/host.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { postgres } from './postgres/dialect.ts';
import type { PooledConnection } from './dialect.ts';
import { organizationTables } from './rows.ts';
import type { Statements } from './transact.ts';
import { settingsOf } from './config.ts';
import { postgresStore, type ServerStore } from './support/store.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  describe(`row-level security on ${server.name}`, () => {
    let store: ServerStore;
    let storage: Storage;
    let connection: PooledConnection;
    let acme: OrganizationId;
    let globex: OrganizationId;

    beforeAll(async () => {
      store = await postgresStore(server);
      storage = store.open();
      await storage.start(AbortSignal.timeout(20_000));
      connection = postgres(settingsOf(store.config));
      [acme, globex] = await Promise.all(
        ['Acme', 'Globex'].map(async (name) => (await storage.directory.createOrganization({ name })).id),
      ).then(([one, other]) => [one ?? newId('org'), other ?? newId('org')]);
      // One row of each in every table, whatever it means: the server's administrator is bound by no policy.
      for (const table of organizationTables) {
        for (const id of [acme, globex]) {
          // Without triggers: what a row refers to need not be there.
          await store.admin(`SET session_replication_role = replica; ${await rowOf(store, table, id)}`);
        }
      }
    });
    afterAll(async () => {
      await connection.close();
      await storage.stop();
      await store.cleanup();
    });

    it('is on every table that names an organization each row belongs to', async () => {
      const named = await store.admin(`SELECT c.table_name FROM information_schema.columns c
        WHERE c.table_schema = 'public' AND c.column_name = 'organization_id' AND c.is_nullable = 'NO' ORDER BY 1`);
      expect(new Set(named.flat())).toEqual(new Set(organizationTables));
      const secured = await store.admin(`SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity
        AND relnamespace = 'public'::regnamespace ORDER BY 1`);
      expect(secured).toEqual(named);
    });

    describe.each(organizationTables)('of %s', (table) => {
      const seen = async (knex: Statements): Promise<readonly unknown[]> =>
        (await knex(table).select('organization_id')).map((row: { organization_id: unknown }) => row.organization_id);

      it('shows a statement that forgot its organization the rows of the transaction’s alone', async () => {
        for (const id of [acme, globex]) {
          expect(await connection.read(id, seen)).toEqual([id]);
          expect(await connection.write(id, seen)).toEqual([id]);
        }
        expect(await connection.read(newId('org'), seen)).toEqual([]);
      });

      it('shows nothing to one outside any organization, nor to the owner of the tables', async () => {
        expect(await seen(connection.reader)).toEqual([]);
        expect(await connection.writer.transaction(seen)).toEqual([]);
      });

      it('shows the directory, which looks across, those of all', async () => {
        expect(new Set(await connection.read('directory', seen))).toEqual(new Set([acme, globex]));
      });

      it('lets nobody else’s row be changed, taken over or removed', async () => {
        const before = await store.admin(`SELECT * FROM ${table} WHERE organization_id = '${globex}'`);
        const taken = await rejection(
          connection.write(acme, (knex) => knex(table).update({ organization_id: globex })),
        );
        expect(taken).toMatchObject({ code: '42501' });
        await connection
          .write(acme, async (knex) => {
            await knex(table).delete();
            expect(await knex(table).select()).toEqual([]);
            throw new Error('keep it');
          })
          .catch((error: unknown) => {
            // What other rows refer to stays for that reason.
            expect(error).toMatchObject({ message: expect.stringMatching(/keep it|foreign key/) });
          });
        expect(await store.admin(`SELECT * FROM ${table} WHERE organization_id = '${globex}'`)).toEqual(before);
      });

      it('takes no row for another organization', async () => {
        const foreign = await rowOf(store, table, globex);
        const refused = await rejection(connection.write(acme, (knex) => knex.raw(foreign)));
        expect(refused).toMatchObject({ code: '42501' });
      });
    });

    it('leaves nothing of a transaction to the next one on the connection', async () => {
      for (let round = 0; round < 10; round += 1) {
        await connection.read(acme, (knex) => knex('members').select());
        expect(await connection.reader('members').select()).toEqual([]);
        await rejection(connection.write(acme, (knex) => knex('nothing').select()));
        expect(await connection.writer('members').select()).toEqual([]);
      }
    });

    it('is put on a table again that lost it', async () => {
      await store.admin('DROP POLICY sightline_organization ON chats');
      await store.admin('ALTER TABLE audit NO FORCE ROW LEVEL SECURITY');
      await storage.migrate();
      for (const table of ['chats', 'audit']) expect(await connection.reader(table).select()).toEqual([]);
      expect(await connection.read(acme, (knex) => knex('chats').select())).toHaveLength(1);
    });

    it('is said to do nothing for a login it does not bind, once and by name', async () => {
      const warned: string[] = [];
      const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
      const bound = store.open({ logger });
      await bound.start(AbortSignal.timeout(20_000));
      await bound.stop();
      expect(warned.filter((message) => message.includes('BYPASSRLS'))).toEqual([]);
      await server.admin(`ALTER ROLE ${store.login} BYPASSRLS`);
      const free = store.open({ logger });
      await free.start(AbortSignal.timeout(20_000));
      await free.directory.organizations();
      await free.stop();
      const messages = warned.filter((message) => message.includes('BYPASSRLS'));
      expect(messages).toEqual([expect.stringContaining(`login ${store.login} is a superuser or has BYPASSRLS`)]);
      await server.admin(`ALTER ROLE ${store.login} NOBYPASSRLS`);
    });
  });
}

let made = 0;

/** A statement that puts a row with anything in it into the table, unlike every other. */
async function rowOf(store: ServerStore, table: string, organizationId: OrganizationId): Promise<string> {
  const columns = await store.admin(`SELECT column_name, data_type FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = '${table}' AND is_nullable = 'NO' AND column_default IS NULL`);
  made += 1;
  const values = columns.map(([name, type]) => {
    if (name === 'organization_id') return `'${organizationId}'`;
    if (type === 'boolean') return 'true';
    return String(type).includes('char') || type === 'text' ? `'x${made}'` : String(made);
  });
  return `INSERT INTO ${table} (${columns.map(([name]) => String(name)).join(', ')}) VALUES (${values.join(', ')})`;
}
