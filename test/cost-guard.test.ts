import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWarehouse, type TestWarehouse } from '../plugins/telemetry-postgres/support/warehouse.ts';
import storagePlugin from '../plugins/storage-knex/index.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { SightlineError, type OrganizationId } from '../src/contract/core/index.ts';
import type { Storage } from '../src/contract/storage/index.ts';
import { createCostGuard, type CostLimits } from '../src/telemetry/query/cost-guard.ts';
import { createQueryPipeline, type QueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { postgresServers } from './support/postgres.ts';

/* What a query may read, with a planner that estimates it and a storage that two gateways count in. */

const [server, ...others] = await postgresServers();
for (const unused of others) await unused.stop();
const now = new Date('2026-03-01T12:00:00Z');
const today = '2026-03-01';
const sql = 'SELECT count(*) AS n FROM otel.spans';

(server === undefined ? describe.skip : describe)('a cost guard over a real planner', () => {
  let directory = '';
  let warehouse: TestWarehouse;
  let storages: readonly Storage[] = [];

  beforeAll(async () => {
    if (server === undefined) return;
    directory = await mkdtemp(join(tmpdir(), 'sl-cost-'));
    warehouse = await createWarehouse(server);
    await warehouse.component.start(AbortSignal.timeout(20_000));
    storages = [0, 1].map(() => storagePlugin.create({ client: 'sqlite' }, testHost(directory)));
    for (const storage of storages) await storage.start(AbortSignal.timeout(20_000));
  });

  afterAll(async () => {
    for (const storage of storages) await storage.stop();
    await warehouse.component.stop();
    await warehouse.cleanup();
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** A span every four seconds of the last days. */
  const organizationWithSpans = async (name: string): Promise<OrganizationId> => {
    const { id } = await present(storages[0]).directory.createOrganization({ name });
    await present(server).admin(fill(id), warehouse.database);
    return id;
  };
  const gateways = (limits: CostLimits): readonly QueryPipeline[] =>
    storages.map((storage) =>
      createQueryPipeline({
        telemetry: warehouse.component,
        logger: silentLogger,
        now: () => now,
        costGuard: createCostGuard({
          telemetry: warehouse.component,
          scans: (organizationId) => storage.workspace(organizationId).scans,
          limits,
          logger: silentLogger,
          now: () => now,
        }),
      }),
    );
  const ask = (organizationId: OrganizationId, window: { start?: Date; end?: Date } = {}) => ({
    organizationId,
    sql,
    window,
    reader: { kind: 'key', role: 'member' } as const,
    label: { principal: 'ak_ci', tool: 'query_otel', traceId: 'trace-1' },
    signal: AbortSignal.timeout(20_000),
  });

  it('refuses what would read too much with a call that reads little enough', async () => {
    const organizationId = await organizationWithSpans('too much');
    const [pipeline] = gateways({ mode: 'enforce', maxQueryBytes: 2_000_000 });
    const wide = { start: new Date('2026-02-24T12:00:00Z'), end: now };
    const refused = await failure(present(pipeline).run(ask(organizationId, wide)));
    expect(refused).toMatchObject({ code: 'query_too_costly', message: expect.stringContaining('may read 2 MB') });
    const retry = Object.fromEntries(Object.entries(refused.retry ?? {}).map(([key, value]) => [key, String(value)]));
    expect(retry['sql']).toBe(sql);
    const narrow = { start: new Date(retry['start'] ?? ''), end: new Date(retry['end'] ?? '') };
    const { rowsJson } = await present(pipeline).run(ask(organizationId, narrow));
    expect(rowsJson.toString()).toMatch(/^\["\d{3,}"\]$/);
  });

  it('lets two gateways together read no more than the day holds', async () => {
    const organizationId = await organizationWithSpans('every day');
    const [shadow] = gateways({ mode: 'shadow', dailyBytes: 1 });
    await present(shadow).run(ask(organizationId));
    const { scans } = present(storages[1]).workspace(organizationId);
    const once = await scans.total(today);
    expect(once).toBeGreaterThan(10_000);
    const dailyBytes = once * 4;
    const enforcing = gateways({ mode: 'enforce', dailyBytes });
    const asked = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => present(enforcing[index % 2]).run(ask(organizationId))),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    expect(await scans.total(today)).toBeLessThanOrEqual(dailyBytes);
    await scans.add(today, dailyBytes);
    for (const pipeline of enforcing) {
      expect(await failure(pipeline.run(ask(organizationId)))).toMatchObject({
        code: 'scan_budget_exceeded',
        retryAfterSeconds: 43_200,
      });
    }
  });
});

function fill(organization: string): string {
  return `
    INSERT INTO telemetry.spans (organization, time, service_name, trace_id, name)
    SELECT '${organization}', '2026-02-24T12:00:00Z'::timestamptz + i * interval '4 seconds', 'service-' || i % 50, lpad(to_hex(i), 32, '0'), 'x'
    FROM generate_series(1, 100000) AS i;
    ANALYZE telemetry.spans`;
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('expected a value');
  return value;
}

async function failure(work: Promise<unknown>): Promise<SightlineError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SightlineError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
