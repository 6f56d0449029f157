import { describe, expect, it } from '@jest/globals';
import { ask } from '../../test/contract/telemetry/warehouse.ts';
import { createQueryPipeline, defaultPipelineLimits } from '../../src/telemetry/query/pipeline.ts';
import { silentLogger } from '../../test/contract/host.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { createTelemetry, newOrganization } from './support/harness.ts';

withEngine(() => {
  describe('a table whose times are in a zone of their own', () => {
    const server = sharedServer();

    it('is read in UTC, by statements and by the window that is taken from them', async () => {
      const own = newOrganization();
      await server().runAll([
        'CREATE DATABASE zoned',
        `CREATE TABLE zoned.events (at DateTime64(9, 'Europe/Berlin'), seconds DateTime('America/New_York'), body String, organization String)
         ENGINE = MergeTree ORDER BY (organization, at)`,
        // Half past midnight in UTC, which is half past one in Berlin and the evening before in New York.
        `INSERT INTO zoned.events SELECT fromUnixTimestamp64Nano(1767227400000000000, 'Europe/Berlin'), toDateTime(1767227400, 'America/New_York'), 'new year', '${own}'`,
      ]);
      const columns = { time: 'at', observed_time: 'seconds', body: 'body' };
      const telemetry = createTelemetry(server().url, {
        mapping: { tables: { logs: { from: 'zoned.events', columns } } },
        ingest: undefined,
      });
      await telemetry.start(AbortSignal.timeout(20_000));
      const pipeline = createQueryPipeline({
        telemetry,
        logger: silentLogger,
        now: () => new Date('2026-01-02T00:00:00Z'),
        limits: defaultPipelineLimits,
      });
      try {
        const rows = async (predicate: string) => {
          const result = await pipeline.run({
            organizationId: own,
            sql: `SELECT time, observed_time, toString(time) AS text FROM otel.logs WHERE ${predicate}`,
            reader: 'agent',
            label: { principal: 'test', tool: 'test', traceId: 'test' },
            signal: AbortSignal.timeout(20_000),
          });
          return JSON.parse(`[${result.rowsJson.toString()}]`);
        };
        const row = ['2026-01-01T00:30:00Z', '2026-01-01T00:30:00Z', '2026-01-01 00:30:00.000000000'];
        for (const predicate of [
          "time >= '2026-01-01 00:00:00' AND time < '2026-01-01 01:00:00'",
          "time >= toDateTime('2026-01-01 00:00:00')",
          "toDate(time) = '2026-01-01' AND time < '2026-01-03'",
          "toHour(time) = 0 AND toHour(observed_time) = 0 AND time > '2025-12-31 23:45:00'",
        ]) {
          const found = await rows(predicate);
          expect([predicate, found.length]).toEqual([predicate, 1]);
          expect(found[0].map((cell: string) => cell.replace(/\.0+Z$/, 'Z'))).toEqual(row);
        }
        expect(await rows("time < '2026-01-01 00:15:00' AND time > '2025-12-30'")).toEqual([]);
        expect((await ask(telemetry, own, 'SELECT timezoneOf(time) FROM otel.logs')).rows).toEqual([['UTC']]);
      } finally {
        await telemetry.stop();
      }
    });
  });
});
