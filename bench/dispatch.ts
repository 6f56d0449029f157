import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

/*
 * What one request costs: process CPU (user and system, from the server itself) and requests a second, for the endpoint on its
 * whole path beside a bare node:http JSON handler and the SDK's documented server, in one run. The load comes from autocannon in
 * a process of its own. Usage: node bench/dispatch.ts [seconds a case, 4]
 */

const seconds = Number(process.argv[2] ?? 4);
const connections = 16;
const autocannon = createRequire(import.meta.url).resolve('autocannon');
const run = promisify(execFile);

const version = '2026-07-28';
const _meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'one', arguments: { sql: 'select 1 as one' }, _meta },
};
const legacyList = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const modern = (method: string): readonly string[] => [`mcp-protocol-version=${version}`, `mcp-method=${method}`];

const cases = [
  { variant: 'bare', name: 'node:http, JSON in and out', body: list, headers: [] },
  { variant: 'sightline', name: 'tools/list 2026-07-28', body: list, headers: modern('tools/list') },
  { variant: 'sightline', name: 'tools/list 2025-11-25', body: legacyList, headers: [] },
  {
    variant: 'sightline',
    name: 'tools/call 2026-07-28',
    body: call,
    headers: [...modern('tools/call'), 'mcp-name=one'],
  },
  { variant: 'sdk', name: 'tools/list 2026-07-28', body: list, headers: modern('tools/list') },
  { variant: 'sdk', name: 'tools/call 2026-07-28', body: call, headers: [...modern('tools/call'), 'mcp-name=one'] },
] as const;

const ready = z.object({ port: z.number(), token: z.string() });
const usage = z.object({ cpu: z.number(), rss: z.number() });
const report = z.object({
  '2xx': z.number(),
  non2xx: z.number(),
  errors: z.number(),
  requests: z.object({ average: z.number() }),
  latency: z.object({ p50: z.number(), p99: z.number() }),
});

async function measure(child: ChildProcess): Promise<z.infer<typeof usage>> {
  const answered = once(child, 'message');
  child.send('cpu');
  return usage.parse((await answered)[0]);
}

async function load(url: string, token: string, body: object, headers: readonly string[], duration: number) {
  const sent = [
    `authorization=Bearer ${token}`,
    'content-type=application/json',
    'accept=application/json, text/event-stream',
    ...headers,
  ];
  const args = [
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
  const { stdout } = await run(
    process.execPath,
    [autocannon, ...args, ...sent.flatMap((header) => ['-H', header]), url],
    {
      maxBuffer: 1 << 24,
    },
  );
  return report.parse(JSON.parse(stdout));
}

const rows: Record<string, string | number>[] = [];
for (const { variant, name, body, headers } of cases) {
  const child = fork(join(import.meta.dirname, 'dispatch-server.ts'), [variant], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const { port, token } = ready.parse((await once(child, 'message'))[0]);
  const url = `http://127.0.0.1:${port}/mcp`;
  await load(url, token, body, headers, 2);
  const before = await measure(child);
  const result = await load(url, token, body, headers, seconds);
  const after = await measure(child);
  if (result.non2xx + result.errors > 0)
    throw new Error(`${variant} ${name}: ${result.non2xx} refused, ${result.errors} failed`);
  rows.push({
    server: variant,
    case: name,
    'CPU µs/request': Math.round((after.cpu - before.cpu) / result['2xx']),
    'requests/s': Math.round(result.requests.average),
    'p50 ms': result.latency.p50,
    'p99 ms': result.latency.p99,
    'RSS MB': Math.round(after.rss / 1e6),
  });
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}
console.table(rows);
