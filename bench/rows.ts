import { createClient } from '@clickhouse/client';
import pg from 'pg';
import { noOrganizations } from '../test/contract/host.ts';
import { batch } from '../test/contract/telemetry-rows.ts';
import type { OrganizationId } from '../src/contract/core/index.ts';
import type { QueryLimits, StatementContext, Telemetry } from '../src/contract/telemetry/index.ts';
import { createTenancy } from '../src/telemetry/mapping/tenancy.ts';
import { ownWarehouse } from '../plugins/telemetry-clickhouse/support/harness.ts';
import { signToken, StepsBefore } from '../plugins/telemetry-postgres/steps.ts';
import { createWarehouse } from '../plugins/telemetry-postgres/support/warehouse.ts';
import { ClickHouseServer } from '../test/support/clickhouse/server.ts';
import { embeddedServer, localServer } from '../test/support/postgres.ts';

/*
 * A result of 1,000 rows through the telemetry plugin (session, statement, serialized rows) beside the same SQL through the
 * engine's own driver, which makes JavaScript values of it, in turns of one run, until the last row is there: the session
 * is cleaned after that, for which the pipeline does not wait either. The bar: 1.3 times the driver's time.
 * Usage: node bench/rows.ts [rounds, 300]
 */

const rounds = Number(process.argv[2] ?? 300);
const limits: QueryLimits = { maxRows: 1_000, maxBytes: 5_000_000, maxCellBytes: 16_384, timeoutMs: 30_000 };
const sql =
  'SELECT time, trace_id, span_id, service_name, name, duration_nano, status_code, attributes FROM otel.spans LIMIT 1000';

const end = Date.now();
const spans = Array.from({ length: 20_000 }, (_, index) => ({
  time: new Date(end - index * 100),
  start_time: new Date(end - index * 100),
  end_time: new Date(end - index * 100 + 5),
  duration_nano: 5_000_000 + index,
  trace_id: index.toString(16).padStart(32, '0'),
  span_id: index.toString(16).padStart(16, '0'),
  name: `GET /api/v1/things/${index % 20}`,
  kind: 'SERVER',
  status_code: index % 50 === 0 ? 'ERROR' : 'OK',
  service_name: `service-${index % 10}`,
  attributes: { 'http.route': `/api/v1/things/${index % 20}`, 'http.request.method': 'GET', 'user.id': `u${index}` },
}));

interface Fetched {
  readonly rows: number;
  readonly close: () => Promise<void>;
}

async function fill(telemetry: Telemetry, organizationId: OrganizationId): Promise<void> {
  const batches = [batch('spans', spans)];
  const load = { organizationId, log: 'bench', batches, upTo: { segment: 1, offset: 1 } };
  await telemetry.sink?.load(load, new AbortController().signal);
}

async function prepared(telemetry: Telemetry, context: StatementContext): Promise<string> {
  return await telemetry.render(telemetry.check(await telemetry.parse(sql, context)), {}, context);
}

async function throughPlugin(telemetry: Telemetry, rendered: string, context: StatementContext): Promise<Fetched> {
  const cursor = await telemetry.open(rendered, limits, context);
  let rows = 0;
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) rows += chunk.rows;
  return { rows, close: async () => cursor.close() };
}

async function compare(name: string, driver: () => Promise<number>, plugin: () => Promise<Fetched>): Promise<void> {
  const times = { driver: [] as number[], plugin: [] as number[] };
  const timed = async (which: keyof typeof times, work: () => Promise<Fetched>) => {
    const started = performance.now();
    const { rows, close } = await work();
    times[which].push(performance.now() - started);
    await close();
    if (rows !== 1_000) throw new Error(`${name}, ${which}: ${rows} rows`);
  };
  for (let round = 0; round < rounds + 20; round += 1) {
    await timed('driver', async () => ({ rows: await driver(), close: async () => {} }));
    await timed('plugin', plugin);
  }
  const median = (values: number[]) => values.slice(20).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  const [ofDriver, ofPlugin] = [median(times.driver), median(times.plugin)];
  const figures = `driver ${ofDriver.toFixed(2)} ms, plugin ${ofPlugin.toFixed(2)} ms`;
  process.stdout.write(`${name.padEnd(22)} ${figures}, ratio ${(ofPlugin / ofDriver).toFixed(2)} (bar 1.30)\n`);
}

const boundary = { mode: 'column', column: 'organization', type: 'string' } as const;
const tenancy = createTenancy(noOrganizations).open({ boundary, value: 'id' });

for (const start of [localServer, embeddedServer]) {
  const server = await start();
  const warehouse = await createWarehouse(server);
  const { component, organizations, database, gateway, password, secret } = warehouse;
  const context = { organizationId: organizations[0], signal: new AbortController().signal };
  const client = new pg.Client(server.url(database, gateway, password));
  try {
    await component.start(context.signal);
    await fill(component, organizations[0]);
    await server.admin('ANALYZE', database);
    const rendered = await prepared(component, context);
    await client.connect();
    const tenant = await tenancy.tenantOf(organizations[0]);
    const [, settings] = new StepsBefore().of(600_000, signToken(tenant, secret, new Date(Date.now() + 600_000)));
    await client.query((settings?.text ?? '').replaceAll(', true)', ', false)'), [...(settings?.values ?? [])]);
    await compare(
      server.name,
      async () => (await client.query({ text: rendered, rowMode: 'array' })).rows.length,
      () => throughPlugin(component, rendered, context),
    );
  } finally {
    await client.end();
    await component.stop();
    await warehouse.cleanup();
    await server.stop();
  }
}

const server = await ClickHouseServer.start();
const { component, organizations, cleanup } = await ownWarehouse(server);
const client = createClient({ url: server.url });
try {
  const context = { organizationId: organizations[0], signal: new AbortController().signal };
  await component.start(context.signal);
  await fill(component, organizations[0]);
  const rendered = await prepared(component, context);
  await compare(
    'ClickHouse (chDB)',
    async () => {
      const result = await client.query({ query: rendered, format: 'JSONCompactEachRow' });
      return (await result.json()).length;
    },
    () => throughPlugin(component, rendered, context),
  );
} finally {
  await client.close();
  await component.stop();
  await cleanup();
  await server.stop();
}
