import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { policy as bigqueryPolicy } from '../plugins/telemetry-bigquery/gate/policy.ts';
import { dialectOf as bigqueryDialect } from '../plugins/telemetry-bigquery/dialect.ts';
import { otelTables } from '../src/contract/telemetry/index.ts';
import { sendDemo } from '../src/lab/demo/index.ts';
import { sqlGates } from '../src/telemetry/gate/index.ts';
import { fittingSql, sampleSql } from '../src/telemetry/query/attribute-keys.ts';
import { sqlHelpers } from '../src/telemetry/query/helpers.ts';
import { countSql } from '../src/web/pages/telemetry/arrivals.ts';
import { traceSql } from '../src/web/pages/telemetry/trace.ts';
import { callTool, countRows } from './support/call.ts';
import { createKey, exchange, startGateway, type RunningGateway } from './support/gateway.ts';
import { expectMended, mistakes, outcomeOf, wrongValues, type Outcome } from './support/mistakes.ts';
import { createPerson } from './support/people.ts';
import { readable } from './support/person.ts';
import { questions, sharedQuestions, type Engine } from './support/questions.ts';
import {
  clickhousePlace,
  ingestToken,
  placeFor,
  postgresPlace,
  type Place,
  type Senders,
} from './support/warehouses.ts';

/** The same OTLP requests into each engine, then the same questions through `query_otel` of a gateway over it. */
const end = new Date(Math.floor(Date.now() / 60_000) * 60_000);
const demo = { scenario: 'payment-errors', seed: 7, minutes: 20, end } as const;
/** What the other organization sends must not change an answer. */
const senders: Senders = [
  ['globex', { ...demo, seed: 8 }],
  ['acme', demo],
];
const window = {
  start: new Date(end.getTime() - 3_600_000).toISOString(),
  end: new Date(end.getTime() + 60_000).toISOString(),
};

const shape = z.object({ rows: z.array(z.array(z.unknown())), truncated: z.boolean() });
const stops: (() => Promise<void>)[] = [];
const gateways = new Map<Engine, { readonly gateway: RunningGateway; readonly token: string }>();

async function serve(engine: Engine, { directory, config, stops: after }: Place): Promise<void> {
  stops.unshift(...after);
  const gateway = await startGateway(directory, { args: ['--no-demo', ...config] });
  stops.unshift(async () => void (await gateway.stop()));
  gateways.set(engine, { gateway, token: await exchange(gateway.url, await createKey(directory, 'acme')) });
}

async function send(engine: Engine, place: Place): Promise<void> {
  const { gateway } = started(engine);
  for (const [name, options] of senders) {
    const token = await exchange(gateway.url, await createKey(place.directory, name));
    const ingest = await ingestToken(place, name);
    const sent = await sendDemo(options, { endpoint: gateway.url, token: ingest, onProgress: () => {} });
    await countRows(gateway.url, token, 'otel.spans', sent.spans);
    await countRows(gateway.url, token, 'otel.logs', sent.logs);
    await countRows(gateway.url, token, 'otel.metrics', sent.points);
  }
}

function started(engine: Engine) {
  const found = gateways.get(engine);
  if (found === undefined) throw new Error(`${engine} was not started`);
  return found;
}

async function ask(engine: Engine, sql: string): Promise<readonly (readonly unknown[])[]> {
  const { gateway, token } = started(engine);
  const { structured, text, isError } = await callTool(gateway.url, token, 'query_otel', { sql, ...window });
  if (isError) throw new Error(`${engine}: ${text}\n${sql}`);
  const { rows, truncated } = shape.parse(structured);
  expect(truncated).toBe(false);
  return rows
    .map((row) => row.map(plain))
    .toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}

/** Numbers to nine digits and times to the millisecond, however an engine writes them. */
function plain(cell: unknown): unknown {
  if (typeof cell === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(cell)) return new Date(cell).toISOString();
  if (typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell))) {
    return Number(cell).toPrecision(9);
  }
  return cell;
}

beforeAll(async () => {
  const embedded = await placeFor({ plugin: 'duckdb' });
  await serve('duckdb', embedded);
  await send('duckdb', embedded);
  const postgres = await postgresPlace();
  if (postgres !== undefined) {
    await serve('postgres', postgres);
    await send('postgres', postgres);
  }
  const clickhouse = await clickhousePlace(senders);
  if (clickhouse !== undefined) await serve('clickhouse', clickhouse);
  const missing = (['postgres', 'clickhouse'] as const).filter((engine) => !gateways.has(engine));
  if (missing.length === 0) return;
  if (process.env['REQUIRE_SERVICES'] === '1') throw new Error(`no ${missing.join(' and no ')} to ask`);
  process.stderr.write(`the twelve questions were not asked of ${missing.join(' and ')}\n`);
}, 180_000);
afterAll(async () => {
  for (const stop of stops) await stop();
});

const textFor = (engine: Engine, sql: (typeof questions)[number]['sql']) =>
  typeof sql === 'string' ? sql : sql[engine];

describe('the twelve questions', () => {
  it.each([...questions, ...sharedQuestions(end)])('$asks', async ({ sql }) => {
    const expected = await ask('duckdb', textFor('duckdb', sql));
    expect(expected.length).toBeGreaterThan(0);
    for (const engine of gateways.keys()) expect(await ask(engine, textFor(engine, sql))).toEqual(expected);
  });

  it.each(['spans', 'metrics', 'logs'])('and which attributes %s have', async (table) => {
    const keys = async (engine: Engine, like: string) =>
      (await ask(engine, `SHOW ATTRIBUTES FROM otel.${table}${like}`)).map(([map, key]) => [map, key]);
    const all = await keys('duckdb', '');
    expect(all.length).toBeGreaterThan(3);
    for (const engine of gateways.keys()) {
      // Of a sample the keys, of a pattern what all rows hold.
      expect([engine, await keys(engine, '')]).toEqual([engine, all]);
      expect([engine, await keys(engine, " LIKE '%'")]).toEqual([engine, all]);
      for (const like of ['SERVICE%', 'http_r%', '%\\_%', "it's"]) {
        const sql = `SHOW ATTRIBUTES FROM otel.${table} LIKE '${like.replace("'", "''")}'`;
        expect([engine, sql, await ask(engine, sql)]).toEqual([engine, sql, await ask('duckdb', sql)]);
      }
    }
  });

  it('and give every column of a table where DISTINCT ON has a star', async () => {
    const sql = `SELECT DISTINCT ON (service_name) * FROM otel.spans ORDER BY service_name, time DESC, span_id`;
    const expected = await ask('duckdb', sql);
    expect(expected[0]).toHaveLength(otelTables.spans.columns.length);
    for (const engine of gateways.keys()) expect(await ask(engine, sql)).toEqual(expected);
  });

  it('and are counted and drawn on the pages', async () => {
    const [[traceId] = []] = await ask('duckdb', 'SELECT trace_id FROM otel.spans ORDER BY time, span_id LIMIT 1');
    const shown = async (engine: Engine) => {
      const email = `reader@${engine}.example`;
      const person = await createPerson(started(engine).gateway, { email, organization: 'acme', role: 'member' });
      const counts = readable((await person.open('/telemetry')).html).match(/[\w-]+ (?:[\d,]+ ){3}(?=\d{4}-)/g) ?? [];
      const trace = readable((await person.open(`/explore/traces/${String(traceId)}`)).html);
      return { counts: counts.toSorted(), spans: /\d+ spans of \d+ services/.exec(trace)?.[0] };
    };
    const expected = await shown('duckdb');
    expect([expected.counts.length > 5, expected.spans]).toEqual([true, expect.stringContaining('spans')]);
    for (const engine of gateways.keys())
      if (engine !== 'duckdb') expect([engine, await shown(engine)]).toEqual([engine, expected]);
  });

  it('and read the offset of a moment', async () => {
    const moment = new Date(end.getTime() - 600_000).toISOString();
    const at = (hours: number, offset: string) =>
      new Date(Date.parse(moment) + hours * 3_600_000).toISOString().replace('.000Z', offset);
    const count = (condition: string) => `SELECT count(*) AS n FROM otel.spans WHERE ${condition}`;
    const expected = await ask('duckdb', count(`time >= '${moment}'`));
    expect(expected).not.toEqual(await ask('duckdb', count(`time >= '${at(0.1, 'Z')}'`)));
    for (const engine of gateways.keys()) {
      for (const sql of [
        count(`time >= '${at(1, '+01:00')}'`),
        count(`'${at(-5, '-05:00')}' <= time`),
        count(`time BETWEEN '${at(5.5, '+05:30')}' AND '${at(3, '+01:00')}'`),
        `SELECT count(*) AS n FROM (SELECT max(time) AS last FROM otel.spans GROUP BY trace_id, span_id) AS s WHERE last >= '${at(1, '+01:00')}'`,
        ...(engine === 'clickhouse' ? [] : [count(`time >= TIMESTAMP WITH TIME ZONE '${at(1, '+01:00')}'`)]),
      ]) {
        expect([engine, sql, await ask(engine, sql)]).toEqual([engine, sql, expected]);
      }
    }
  });

  it('are let through in BigQuery’s words too, though no engine of it is at hand to answer them', async () => {
    const gate = await sqlGates.open(bigqueryPolicy, sqlHelpers);
    const { write } = bigqueryDialect(Object.values(otelTables), 'flat');
    const window = { start: end, end: new Date(end.getTime() + 3_600_000) };
    const attributes = Object.values(otelTables).flatMap((table) => [
      sampleSql({ write }, table, window, 1),
      fittingSql({ write }, table, window, 'http.%'),
    ]);
    const own = [...attributes, countSql({ write }), traceSql('0af7651916cd43dd8448eb211c80319c')];
    for (const sql of [...[...questions, ...sharedQuestions(end)].map(({ sql }) => textFor('bigquery', sql)), ...own]) {
      const { tables } = await gate.admit(sql, AbortSignal.timeout(1_000));
      expect(tables.length).toBeGreaterThan(0);
    }
  });
});

describe('mistakes of models', () => {
  it.each(['duckdb', 'postgres', 'clickhouse'] as const)(
    'are mended in one step on %s, and none is answered wrong without a word',
    async (engine) => {
      const served = gateways.get(engine);
      if (served === undefined) return;
      const call = (sql: string) => callTool(served.gateway.url, served.token, 'query_otel', { sql, ...window });
      const found = new Map<Outcome, string[]>();
      for (const sql of [...mistakes, ...wrongValues]) {
        const { outcome, said } = await outcomeOf(call, sql);
        found.set(outcome, [...(found.get(outcome) ?? []), `${sql}\n    ${said}`]);
      }
      expectMended(engine, found);
    },
    120_000,
  );
});
