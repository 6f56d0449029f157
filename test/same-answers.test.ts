import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
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

async function serve(engine: Engine, telemetry: object): Promise<void> {
  const directory = await temporaryDirectory();
  stops.push(() => removeDirectory(directory));
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ telemetry }));
  const gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
  stops.push(async () => void (await gateway.stop()));
  const token = await exchange(gateway.url, await createKey(directory, 'acme'));
  const { stdout } = await sightline(directory, ['ingest', 'show', '--org', 'acme', '--json', '--config', config]);
  const ingest = z.object({ token: z.string() }).parse(JSON.parse(stdout));
  const sent = await sendDemo(demo, { endpoint: gateway.url, token: ingest.token, onProgress: () => {} });
  await countRows(gateway.url, token, 'otel.spans', sent.spans);
  await countRows(gateway.url, token, 'otel.logs', sent.logs);
  await countRows(gateway.url, token, 'otel.metrics', sent.points);
  gateways.set(engine, { gateway, token });
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
  await serve('duckdb', { plugin: 'duckdb' });
});
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
