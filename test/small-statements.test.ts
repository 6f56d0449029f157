import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createWarehouse } from '../plugins/telemetry-postgres/support/warehouse.ts';
import type { Logger } from '../src/contract/core/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { placesIn, QueryPlaces } from '../src/telemetry/query/places.ts';
import { postgresServers } from './support/postgres.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const callers = 64;
const minuteMs = 60_000;

for (const server of servers) {
  describe(`many small statements of one caller on ${server.name}`, () => {
    it('go together again after a moment in which each had to go by itself', async () => {
      const warehouse = await createWarehouse(server);
      const { component: telemetry, organizations } = warehouse;
      await telemetry.start(AbortSignal.timeout(20_000));
      const places = new QueryPlaces(placesIn(telemetry, { atOnce: 32, organization: 8 }));
      let now = Math.floor(Date.now() / minuteMs) * minuteMs;
      const pipeline = createQueryPipeline({ telemetry, logger: silent, now: () => new Date(now), places });
      const { signal } = new AbortController();
      const label = { principal: 'ak_1', tool: 'query_otel', traceId: 'abc' };
      const ask = () =>
        pipeline.run({
          organizationId: organizations[0],
          sql: 'SELECT now() AS moment',
          reader: { kind: 'key', role: 'member' },
          label,
          signal,
        });
      let asking = true;
      /** When the transaction of each answer began: the same for those that went together. */
      let moments: string[] = [];
      const loops = Array.from({ length: callers }, async () => {
        while (asking) moments.push((await ask()).rowsJson.toString());
      });
      const share = async (): Promise<number> => {
        moments = [];
        await sleep(200);
        return moments.length / Math.max(1, new Set(moments).size);
      };
      await sleep(1_000);
      // Nothing that was prepared in another minute is sent as it is.
      now += minuteMs;
      let together = 0;
      for (let attempt = 0; attempt < 20 && together < 2; attempt += 1) together = await share();
      asking = false;
      await Promise.all(loops);
      expect(together).toBeGreaterThanOrEqual(2);
      for (let look = 0; look < 100 && places.running > 0; look += 1) await sleep(10);
      expect(places.running).toBe(0);
      await telemetry.stop();
      await warehouse.cleanup();
    });
  });
}
