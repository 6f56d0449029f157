import * as runner from '@jest/globals';
import { telemetryContract } from '../../test/contract/telemetry.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { createWarehouse } from './support/warehouse.ts';

const servers = await postgresServers();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => {
    telemetryContract(runner, async () => {
      const warehouse = await createWarehouse(server);
      return {
        ...warehouse,
        sql: {
          slow: 'SELECT count(*) FROM generate_series(1, 100000) AS a(x), generate_series(1, 100000) AS b(y) WHERE a.x + b.y = 7',
          manyRows: 'SELECT x FROM generate_series(1, 100000) AS g(x)',
          longText: "SELECT repeat('añ😀\"', 50000) AS x",
          bounded: [
            {
              sql: "SELECT name FROM otel.spans WHERE time > now() - interval '1 hour' AND kind = 'SERVER'",
              reaches: [{ start: { fromNowMs: -3_600_000 } }],
            },
            {
              sql: "SELECT s.name FROM otel.spans s JOIN otel.logs l ON l.time >= timestamptz '2026-01-01 00:00:00+00' WHERE s.time < '2026-01-02'",
              reaches: [{ end: { at: new Date('2026-01-02') } }, { start: { at: new Date('2026-01-01') } }],
            },
            { sql: "SELECT name FROM otel.spans WHERE time > '2026-01-01' OR name = 'x'", reaches: [{}] },
          ],
        },
      };
    });
  });
}
