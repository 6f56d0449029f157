import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import createKnex from 'knex';
import type { Knex } from 'knex';
import { mysqlServers } from '../../../test/support/mysql.ts';
import { mysqlStore, type ServerStore } from '../support/store.ts';
import { journaled } from './dialect.ts';

const servers = await mysqlServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  describe(`a migration on ${server.name}`, () => {
    let store: ServerStore;
    let knex: Knex;
    beforeEach(async () => {
      store = await mysqlStore(server);
      knex = createKnex({
        client: 'mysql2',
        connection: server.url(store.database, store.login, store.password),
        pool: { min: 0, max: 2 },
      });
    });
    afterEach(async () => {
      await knex.destroy();
      await store.cleanup();
    });

    /** Two changes, of which the one at `cutAt` is done but its process ends before it hears so; and the record. */
    async function migrate(cutAt?: number): Promise<void> {
      let step = 0;
      const create = (table: string) => async (): Promise<void> => {
        await knex.schema.createTable(table, (columns) => void columns.increments('id'));
        step += 1;
        if (step === cutAt) throw new Error('killed');
      };
      await journaled(
        knex,
        'one',
        async (change) => {
          await change(create('first'));
          await change(create('second'));
        },
        () => knex.schema.createTable('recorded', (columns) => void columns.increments('id')),
      );
    }

    it.each([1, 2])('that is killed at its change %i is finished the next time', async (cutAt) => {
      await expect(migrate(cutAt)).rejects.toThrow('killed');
      await migrate();
      expect(await knex('schema_migration_steps')).toEqual([]);
    });

    it('is not forgotten before it is recorded: else it would begin anew, over tables that are there', async () => {
      const unrecorded = journaled(
        knex,
        'one',
        (change) => change(() => knex.schema.createTable('first', (columns) => void columns.increments('id'))),
        () => Promise.reject(new Error('killed')),
      );
      await expect(unrecorded).rejects.toThrow('killed');
      await migrate();
      expect(await knex.schema.hasTable('recorded')).toBe(true);
    });
  });
}
