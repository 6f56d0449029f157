import * as runner from '@jest/globals';
import { telemetryContract } from '../../src/contract-tests/telemetry.ts';
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
          slow: 'SELECT count(*) FROM generate_series(1, 10000000) AS a(x), generate_series(1, 10000) AS b(y) WHERE a.x + b.y = 7',
          manyRows: 'SELECT x FROM generate_series(1, 100000) AS g(x)',
          longText: "SELECT repeat('añ😀\"', 50000) AS x",
        },
      };
    });
  });
}
