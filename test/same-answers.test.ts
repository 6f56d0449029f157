import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { applyScripts } from '../plugins/telemetry-postgres/support/warehouse.ts';
import { sendDemo } from '../src/demo/index.ts';
import { callTool, countRows } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
} from './support/gateway.ts';
import type { RunningGateway } from './support/gateway.ts';
import { postgresServers } from './support/postgres.ts';
import { questions } from './support/questions.ts';
import type { Engine } from './support/questions.ts';

/** The same OTLP requests into a gateway over each engine, then the same questions through `query_otel`. */
const end = new Date(Math.floor(Date.now() / 60_000) * 60_000);
const demo = { scenario: 'payment-errors', seed: 7, minutes: 20, end } as const;
const window = {
  start: new Date(end.getTime() - 3_600_000).toISOString(),
  end: new Date(end.getTime() + 60_000).toISOString(),
};

const shape = z.object({ rows: z.array(z.array(z.unknown())), truncated: z.boolean() });
const stops: (() => Promise<void>)[] = [];
const gateways = new Map<Engine, { readonly gateway: RunningGateway; readonly token: string }>();

interface Place {
  readonly directory: string;
  /** `--config FILE` */
  readonly config: readonly string[];
}

async function configured(telemetry: object): Promise<Place> {
  const directory = await temporaryDirectory();
  stops.push(() => removeDirectory(directory));
  const file = join(directory, 'sightline.config.json');
  await writeFile(file, JSON.stringify({ telemetry }));
  return { directory, config: ['--config', file] };
}

/** A PostgreSQL set up by what `sightline telemetry setup` prints. */
async function postgres(): Promise<Place | undefined> {
  const [server, ...others] = await postgresServers();
  for (const other of others) await other.stop();
  if (server === undefined) return undefined;
  stops.push(() => server.stop());
  const database = await server.createDatabase();
  const id = randomBytes(4).toString('hex');
  const [gateway, writer, owner] = [`sl_gateway_${id}`, `sl_writer_${id}`, `sl_owner_${id}`];
  stops.push(() => server.drop(database, [gateway, writer, owner]));
  const secret = randomBytes(24).toString('hex');
  const place = await configured({
    plugin: 'postgres',
    url: server.url(database, gateway, 'p'),
    boundary: { secret, owner },
    ingest: { enabled: true, url: server.url(database, writer, 'p') },
  });
  const { stdout, stderr } = await sightline(place.directory, ['telemetry', 'setup', '--json', ...place.config]);
  if (stdout === '') throw new Error(stderr);
  const { scripts } = z
    .object({ scripts: z.array(z.object({ title: z.string(), sql: z.string() })) })
    .parse(JSON.parse(stdout));
  await applyScripts(server, database, scripts, {
    gateway_password: 'p',
    writer_password: 'p',
    boundary_secret: secret,
  });
  return place;
}

async function serve(engine: Engine, { directory, config }: Place): Promise<void> {
  const gateway = await startGateway(directory, { args: ['--no-demo', ...config] });
  stops.push(async () => void (await gateway.stop()));
  // What the other organization sends must not change an answer.
  for (const [name, options] of [
    ['globex', { ...demo, seed: 8 }],
    ['acme', demo],
  ] as const) {
    const token = await exchange(gateway.url, await createKey(directory, name));
    const { stdout } = await sightline(directory, ['ingest', 'show', '--org', name, '--json', ...config]);
    const ingest = z.object({ token: z.string() }).parse(JSON.parse(stdout));
    const sent = await sendDemo(options, { endpoint: gateway.url, token: ingest.token, onProgress: () => {} });
    await countRows(gateway.url, token, 'otel.spans', sent.spans);
    await countRows(gateway.url, token, 'otel.logs', sent.logs);
    await countRows(gateway.url, token, 'otel.metrics', sent.points);
    gateways.set(engine, { gateway, token });
  }
}
async function ask(engine: Engine, sql: string): Promise<readonly (readonly unknown[])[]> {
  const found = gateways.get(engine);
  if (found === undefined) throw new Error(`${engine} was not started`);
  const { structured, text, isError } = await callTool(found.gateway.url, found.token, 'query_otel', {
    sql,
    ...window,
  });
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
  if (typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell)))
    return Number(cell).toPrecision(9);
  return cell;
}

beforeAll(async () => {
  await serve('duckdb', await configured({ plugin: 'duckdb' }));
  const place = await postgres();
  if (place !== undefined) await serve('postgres', place);
}, 120_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

describe('the twelve questions', () => {
  it.each(questions)('$asks', async ({ sql }) => {
    const textFor = (engine: Engine) => (typeof sql === 'string' ? sql : sql[engine]);
    const expected = await ask('duckdb', textFor('duckdb'));
    expect(expected.length).toBeGreaterThan(0);
    for (const engine of gateways.keys()) expect(await ask(engine, textFor(engine))).toEqual(expected);
  });
});
