import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { behindPgBouncer, pgBouncerInstalled } from '../../test/support/pgbouncer.ts';
import { embeddedServer, localServer, type PostgresServer } from '../../test/support/postgres.ts';
import { ask } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

(pgBouncerInstalled() ? describe : describe.skip)('behind PgBouncer', () => {
  let server: PostgresServer;
  let warehouse: TestWarehouse;
  beforeAll(async () => {
    server = await localServer().catch(() => embeddedServer());
    warehouse = await createWarehouse(server);
  });
  afterAll(async () => {
    await warehouse.cleanup();
    await server.stop();
  });

  const behind = (settings: readonly string[], test: (url: string) => Promise<void>): Promise<void> => {
    const { database, gateway, password } = warehouse;
    return behindPgBouncer({ server, database, login: gateway, password, settings }, test);
  };

  it.each([
    ['pool_mode = transaction', 'default_pool_size = 1'],
    ['pool_mode = transaction', 'default_pool_size = 5'],
    ['pool_mode = transaction', 'server_round_robin = 1'],
  ])('%s, %s is refused by name', async (...settings) => {
    await behind(settings, async (url) => {
      const component = warehouse.create({ url, ingest: { enabled: false } });
      try {
        await expect(component.start(AbortSignal.timeout(20_000))).rejects.toMatchObject({
          code: 'config_invalid',
          message: expect.stringContaining('pooler in transaction mode'),
          hint: expect.stringContaining('pool_mode = session'),
        });
      } finally {
        await component.stop();
      }
    });
  });

  it('a pool in session mode is served', async () => {
    await behind(['pool_mode = session', 'default_pool_size = 10'], async (url) => {
      const component = warehouse.create({ url, ingest: { enabled: false } });
      try {
        await component.start(AbortSignal.timeout(20_000));
        expect((await ask(component, warehouse.organizations[0], 'SELECT count(*) FROM otel.spans')).rows).toEqual([
          ['0'],
        ]);
      } finally {
        await component.stop();
      }
    });
  });
});
