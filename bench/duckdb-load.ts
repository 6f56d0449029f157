import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeBatch, otelTables, type BatchColumn } from '../src/contract/telemetry/index.ts';
import { newId } from '../src/contract/core/index.ts';
import { noOrganizations, testHost } from '../test/contract/host.ts';
import { telemetryHost } from '../src/gateway/wiring/telemetry-host.ts';
import plugin from '../plugins/telemetry-duckdb/index.ts';

/*
 * Spans a second into the embedded engine, 12 + 8 attributes, in loads of 32,000 rows (64 batches of 512), the way the
 * receiver sends them. Usage: node bench/duckdb-load.ts [loads]
 */

const loads = Number(process.argv[2] ?? 10);
const rowsPerBatch = 512;
const batchesPerLoad = 63;

const directory = await mkdtemp(join(tmpdir(), 'sightline-bench-'));
const telemetry = plugin.create(plugin.configSchema.parse({}), telemetryHost(testHost(directory), noOrganizations));
const organizationId = newId('org');
const signal = new AbortController().signal;
await telemetry.start(signal);
try {
  await telemetry.sink?.committed(organizationId, 'bench');
  const pid = await enginePid(directory);
  const cpuBefore = await cpuSeconds(pid);
  const prepared = Array.from({ length: loads }, (_, load) =>
    Array.from({ length: batchesPerLoad }, (_batch, batch) => spans(load * batchesPerLoad + batch)),
  );
  const begin = performance.now();
  let slowest = 0;
  for (const [load, batches] of prepared.entries()) {
    const one = performance.now();
    await telemetry.sink?.load(
      { organizationId, log: 'bench', batches, upTo: { segment: 1, offset: load + 1 } },
      signal,
    );
    slowest = Math.max(slowest, performance.now() - one);
  }
  const seconds = (performance.now() - begin) / 1000;
  const rows = loads * batchesPerLoad * rowsPerBatch;
  console.log(
    JSON.stringify({
      spans: rows,
      spansPerSecond: Math.round(rows / seconds),
      spansPerCpuSecond: Math.round(rows / ((await cpuSeconds(pid)) - cpuBefore)),
      slowestLoadMs: Math.round(slowest),
      engine: await memory(pid),
    }),
  );
} finally {
  await telemetry.stop();
  await rm(directory, { recursive: true, force: true });
}

function spans(seed: number): Uint8Array {
  const rows = Array.from({ length: rowsPerBatch }, (_, row) => seed * rowsPerBatch + row);
  const columns = otelTables.spans.columns.map((column): BatchColumn => {
    switch (column.type) {
      case 'timestamp':
        return {
          kind: 'timestamp',
          values: BigInt64Array.from(rows, (row) => 1_790_000_000_000_000n + BigInt(row) * 37n),
        };
      case 'int64':
        return { kind: 'int64', values: BigInt64Array.from(rows, (row) => BigInt((row * 7919) % 1_000_000)) };
      case 'map':
        return { kind: 'json', values: rows.map((row) => map(column.name, row)) };
      case 'string':
        return { kind: 'string', values: rows.map((row) => text(column.name, row)) };
      default:
        return { kind: 'json', values: rows.map(() => '[]') };
    }
  });
  return encodeBatch({ table: 'spans', rows: rows.length, columns });
}

/** Scope attributes and the other fields of OTLP are left empty, as nearly every SDK leaves them. */
function map(column: string, row: number): string {
  if (column === 'attributes') return attributes(row);
  return column === 'resource_attributes' ? resource(row % 10) : '{}';
}

function attributes(row: number): string {
  return JSON.stringify({
    'http.request.method': row % 3 ? 'GET' : 'POST',
    'http.route': `/api/items/${row % 40}`,
    'url.path': `/api/items/${row}`,
    'http.response.status_code': String(row % 50 ? 200 : 500),
    'server.address': `host-${row % 20}`,
    'server.port': '8080',
    'client.address': `10.0.${row % 250}.${row % 199}`,
    'user.id': `user-${(row * 2654435761) % 100_000}`,
    'session.id': (row * 40503).toString(36),
    'network.protocol.version': '1.1',
    'user_agent.original': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
    'thread.id': String(row % 16),
  });
}

function resource(service: number): string {
  return JSON.stringify({
    'service.name': `service-${service}`,
    'service.version': '1.4.2',
    'service.instance.id': `instance-${service}-0f8fad5b`,
    'deployment.environment.name': 'production',
    'host.name': `node-${service}`,
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.0.1',
  });
}

function text(column: string, row: number): string {
  switch (column) {
    case 'trace_id':
      return Math.floor(row / 8)
        .toString(16)
        .padStart(32, '7');
    case 'span_id':
    case 'parent_span_id':
      return (row * 2654435761).toString(16).padStart(16, '3');
    case 'name':
      return `GET /api/items/${row % 40}`;
    case 'kind':
      return 'SERVER';
    case 'status_code':
      return row % 50 ? 'UNSET' : 'ERROR';
    case 'service_name':
      return `service-${row % 10}`;
    default:
      return '';
  }
}

async function enginePid(dataDirectory: string): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (line.includes('engine/main') && line.includes(dataDirectory)) return Number(name);
  }
  throw new Error('no engine process found');
}

async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function memory(pid: number): Promise<Record<string, string>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Object.fromEntries(
    ['VmRSS', 'VmHWM', 'VmPeak'].map((key) => [key, new RegExp(`${key}:\\s+(.*)`).exec(status)?.[1] ?? '']),
  );
}
