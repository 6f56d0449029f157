import * as runner from '@jest/globals';
import { isolationContract, type IsolationUnderTest } from '../../test/contract/isolation.ts';
import { legitimateContract } from '../../test/contract/telemetry/legitimate.ts';
import { everyPostgresServer, type PostgresServer } from '../../test/support/postgres.ts';
import { askBare } from './support/ask.ts';
import { attacks } from './support/attacks.ts';
import { legitimate } from './support/legitimate.ts';
import { ungated } from './support/ungated.ts';
import { createWarehouse } from './support/warehouse.ts';

/*
 * What one organization sends must never show, count or change anything of the other: behind gate and views, where the gate
 * is off and the views hold alone, and where there are no views and the gate with its substitution holds alone.
 */

const servers = await everyPostgresServer();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

async function layered(server: PostgresServer): Promise<IsolationUnderTest & { readonly database: string }> {
  const warehouse = await createWarehouse(server);
  const { component, organizations, database, cleanup } = warehouse;
  const bare = async (sql: string) => {
    const answer = askBare(component, organizations[1], sql);
    return await answer.then(({ text }) => text, causes);
  };
  return { component, organizations, database, cleanup, bare };
}

async function withoutGate(server: PostgresServer): Promise<IsolationUnderTest> {
  const warehouse = await layered(server);
  // How many rows a whole table has, once it was analyzed, the catalog tells everybody. No grant can keep that: the gate does.
  for (const table of ['spans', 'metrics', 'logs']) {
    await server.admin(`ALTER TABLE telemetry.${table} SET (autovacuum_enabled = false)`, warehouse.database);
  }
  return { ...warehouse, component: ungated(warehouse.component) };
}

async function withoutViews(server: PostgresServer): Promise<IsolationUnderTest> {
  return await createWarehouse(server, { isolation: 'degraded' });
}

function causes(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${causes(error.cause)}` : '';
}

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => {
    isolationContract(runner, async () => await layered(server), {
      statements: attacks,
      layers: [
        { without: 'the gate', isGate: true, make: async () => await withoutGate(server) },
        { without: 'the views', make: async () => await withoutViews(server) },
      ],
    });
    legitimateContract(runner, async () => await layered(server), legitimate);
    runner.describe('without views', () => {
      legitimateContract(runner, async () => await withoutViews(server), legitimate);
    });
  });
}
