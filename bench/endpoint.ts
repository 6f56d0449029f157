import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createKey, exchange, removeDirectory, startGateway, temporaryDirectory } from '../test/support/gateway.ts';
import { cpuSeconds, findProcesses, residentMb } from './support/process.ts';

/*
 * What one request costs on the whole path of a real gateway (bearer verification, live key look-up in SQLite, rate limit,
 * audit, and for query_otel the gate and DuckDB), beside a bare node:http JSON handler and the SDK's documented server
 * (verification alone), in alternating rounds of one run. CPU is user and system time of the server's process.
 * Usage: node bench/endpoint.ts [seconds a case, 4] [rounds, 3]
 */

const seconds = Number(process.argv[2] ?? 4);
const rounds = Number(process.argv[3] ?? 3);
const connections = 16;
const autocannon = createRequire(import.meta.url).resolve('autocannon');
const run = promisify(execFile);

const version = '2026-07-28';
const _meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
const request = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const args = { sql: 'select 1 as one' };

interface Target {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** The engine's process, whose CPU is told apart. */
  readonly engine?: () => Promise<number | undefined>;
}

interface Case {
  readonly target: 'bare' | 'sightline' | 'sdk';
  readonly name: string;
  readonly body: object;
  readonly headers: readonly string[];
}

const modern = (method: string, tool?: string) => [
  `mcp-protocol-version=${version}`,
  `mcp-method=${method}`,
  ...(tool ? [`mcp-name=${tool}`] : []),
];
const list = request('tools/list', { _meta });
const cases: readonly Case[] = [
  { target: 'bare', name: 'JSON in and out', body: list, headers: [] },
  { target: 'sightline', name: 'tools/list 2026-07-28', body: list, headers: modern('tools/list') },
  { target: 'sightline', name: 'tools/list 2025-11-25', body: request('tools/list', {}), headers: [] },
  {
    target: 'sightline',
    name: 'query_otel select 1',
    body: request('tools/call', { name: 'query_otel', arguments: args, _meta }),
    headers: modern('tools/call', 'query_otel'),
  },
  { target: 'sdk', name: 'tools/list 2026-07-28', body: list, headers: modern('tools/list') },
  {
    target: 'sdk',
    name: 'tools/call (answers at once)',
    body: request('tools/call', { name: 'one', arguments: args, _meta }),
    headers: modern('tools/call', 'one'),
  },
];

const report = z.object({
  '2xx': z.number(),
  non2xx: z.number(),
  errors: z.number(),
  requests: z.object({ average: z.number() }),
  latency: z.object({ p50: z.number(), p99: z.number() }),
});
const ready = z.object({ port: z.number(), token: z.string() });

async function load(target: Target, { body, headers }: Case, duration: number) {
  const sent = [
    `authorization=Bearer ${target.token}`,
    'content-type=application/json',
    'accept=application/json, text/event-stream',
    ...headers,
  ].flatMap((header) => ['-H', header]);
  const options = [
    '-j',
    '-n',
    '-c',
    String(connections),
    '-d',
    String(duration),
    '-m',
    'POST',
    '-b',
    JSON.stringify(body),
  ];
  const { stdout } = await run(process.execPath, [autocannon, ...options, ...sent, target.url], { maxBuffer: 1 << 24 });
  const result = report.parse(JSON.parse(stdout));
  if (result.non2xx + result.errors > 0)
    throw new Error(`${target.name}: ${result.non2xx} refused, ${result.errors} failed`);
  return result;
}

const clean: (() => Promise<unknown>)[] = [];
async function rival(name: 'bare' | 'sdk'): Promise<Target> {
  const child = fork(join(import.meta.dirname, 'support', 'rival-servers.ts'), [name], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const { port, token } = ready.parse((await once(child, 'message'))[0]);
  clean.push(async () => {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  return { name, url: `http://127.0.0.1:${port}/mcp`, token, pid: child.pid ?? 0 };
}

async function sightline(): Promise<Target> {
  const directory = await temporaryDirectory();
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, '{"limits":{"requestsPerMinute":1000000000}}');
  const gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
  clean.push(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });
  const token = await exchange(gateway.url, await createKey(directory, 'bench'));
  const engine = async () => (await findProcesses('engine/main', directory))[0];
  return { name: 'sightline', url: `${gateway.url}/mcp`, token, pid: gateway.process.pid ?? 0, engine };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

interface Sample {
  readonly cpu: number;
  readonly engineCpu: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

try {
  const targets = { bare: await rival('bare'), sightline: await sightline(), sdk: await rival('sdk') };
  const samples = new Map<Case, Sample[]>();
  for (const one of cases) await load(targets[one.target], one, 2);
  for (let round = 0; round < rounds; round += 1) {
    for (const one of cases) {
      const target = targets[one.target];
      const engine = await target.engine?.();
      const cpu = async () => [await cpuSeconds(target.pid), engine ? await cpuSeconds(engine) : 0] as const;
      const before = await cpu();
      const result = await load(target, one, seconds);
      const after = await cpu();
      const perRequest = (index: 0 | 1) => ((after[index] - before[index]) * 1e6) / result['2xx'];
      const sample = {
        cpu: perRequest(0),
        engineCpu: perRequest(1),
        rate: result.requests.average,
        p50: result.latency.p50,
        p99: result.latency.p99,
      };
      samples.set(one, [...(samples.get(one) ?? []), sample]);
    }
  }
  const rate = (one: Case | undefined) => median((one && samples.get(one))?.map((sample) => sample.rate) ?? []);
  const [bare, , , , sdkList, sdkCall] = cases;
  const rows = await Promise.all(
    cases.map(async (one) => {
      const all = samples.get(one) ?? [];
      const sdk = one.name.startsWith('tools/list') || one.target === 'bare' ? sdkList : sdkCall;
      return {
        server: one.target,
        case: one.name,
        'CPU µs/request': Math.round(median(all.map(({ cpu }) => cpu))),
        'engine CPU µs': Math.round(median(all.map(({ engineCpu }) => engineCpu))),
        'requests/s': Math.round(rate(one)),
        'of bare': Number((rate(one) / rate(bare)).toFixed(2)),
        'times SDK': Number((rate(one) / rate(sdk)).toFixed(1)),
        'p50 ms': median(all.map(({ p50 }) => p50)),
        'p99 ms': median(all.map(({ p99 }) => p99)),
        'RSS MB': (await residentMb(targets[one.target].pid)).now,
      };
    }),
  );
  console.table(rows);
} finally {
  for (const step of clean) await step();
}
