import { createServer, request } from 'node:http';
import { enableCompileCache } from 'node:module';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import plugin from '../plugins/telemetry-duckdb/index.ts';
import { hashSecret, newId, type OrganizationId } from '../src/contract/core/index.ts';
import { decodeBatch, type TelemetryLoad } from '../src/contract/telemetry/index.ts';
import { telemetryHost } from '../src/gateway/wiring/telemetry-host.ts';
import { createOtlpReceiver } from '../src/telemetry/ingest/receiver.ts';
import { noOrganizations, silentLogger, testHost } from '../test/contract/host.ts';
import { removeDirectory, temporaryDirectory } from '../test/support/gateway.ts';
import { listen } from '../test/support/listen.ts';
import { treeCpuSeconds, treeResidentMb } from './support/process.ts';

/*
 * Many organizations that each send a request of 20 spans a second, into the embedded engine: how long until a span can be
 * queried (its load is committed), and the memory of the engines. `taskset -c 0` gives it one core.
 * Usage: node bench/organizations.ts [organizations, 100] [seconds, 40] [openEngines, the default]
 */

// As in a gateway, whose engines find the sources compiled there.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/sightline', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

const [count = '100', seconds = '40', openEngines] = process.argv.slice(2);
const spansPerRequest = 20;

const directory = await temporaryDirectory();
const telemetry = plugin.create(
  plugin.configSchema.parse(openEngines === undefined ? {} : { openEngines: Number(openEngines) }),
  telemetryHost(testHost(directory), noOrganizations),
);
const { sink } = telemetry;
if (sink === undefined) throw new Error('no sink');
const lags = new Map<OrganizationId, number[]>();
let failures = 0;
let loads = 0;
/** Spans of requests that were answered with 200. */
let acknowledged = 0;

/** Of each span of the load, from when it was sent. */
function note({ organizationId, batches }: TelemetryLoad): void {
  loads += 1;
  const now = Date.now();
  const known = lags.get(organizationId) ?? [];
  lags.set(organizationId, known);
  for (const batch of batches) {
    const [time] = decodeBatch(batch).columns;
    if (time?.kind === 'timestamp') for (const micros of time.values) known.push(now - Number(micros / 1000n));
  }
}

const organizations = Array.from({ length: Number(count) }, () => newId('org'));
const owners = new Map(organizations.map((id) => [hashSecret(`it_${id}`), id]));
const receiver = createOtlpReceiver({
  directory: {
    async ingestTokenByHash(hash) {
      const organizationId = owners.get(hash);
      return organizationId && { id: newId('it'), organizationId };
    },
    organizations: async () => [],
  },
  sink: {
    committed: (...args) => sink.committed(...args),
    retain: (...args) => sink.retain(...args),
    gatherMs: (id) => sink.gatherMs?.(id) ?? 1_000,
    hold: async (id) => (await sink.hold?.(id)) ?? (() => undefined),
    async load(load, signal) {
      await sink.load(load, signal).catch((error: unknown) => {
        failures += 1;
        throw error;
      });
      note(load);
    },
  },
  dataDirectory: directory,
  retentionDays: () => 30,
  logger: silentLogger,
  now: () => new Date(),
});
const server = createServer((incoming, response) => receiver.handle(incoming, response));

function body(): string {
  const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  const spans = Array.from({ length: spansPerRequest }, (_, index) => ({
    traceId: newHex(32),
    spanId: newHex(16),
    name: `GET /api/items/${index}`,
    startTimeUnixNano,
    attributes: [{ key: 'http.route', value: { stringValue: '/api/items/{id}' } }],
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

function newHex(digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(Math.random() * 16).toString(16)).join('');
}

function send(port: number, id: OrganizationId): void {
  const headers = { authorization: `Bearer it_${id}`, 'content-type': 'application/json' };
  const outgoing = request({ port, host: '127.0.0.1', path: '/v1/traces', method: 'POST', headers });
  outgoing.on('error', () => (failures += 1));
  outgoing.on('response', (response) => {
    response.resume();
    if (response.statusCode === 200) acknowledged += spansPerRequest;
    else failures += 1;
  });
  outgoing.end(body());
}

function quantile(values: readonly number[], fraction: number): string {
  const sorted = values.toSorted((one, other) => one - other);
  return ((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? NaN) / 1000).toFixed(1);
}

try {
  const signal = new AbortController().signal;
  await telemetry.start(signal);
  await receiver.start(signal);
  const port = await listen(server);
  const before = loadavg()[0]?.toFixed(1);
  let most = 0;
  const cpuBefore = await treeCpuSeconds(process.pid);
  for (let second = 0; second < Number(seconds); second += 1) {
    for (const [index, id] of organizations.entries()) {
      setTimeout(() => send(port, id), (index * 1000) / organizations.length);
    }
    await sleep(1000);
    if (second % 5 !== 0) continue;
    most = Math.max(most, (await treeResidentMb(process.pid)) - process.memoryUsage.rss() / 1024 ** 2);
  }
  const ended = performance.now();
  const loaded = () => [...lags.values()].reduce((sum, values) => sum + values.length, 0);
  while (loaded() < acknowledged && performance.now() - ended < 120_000) await sleep(200);
  console.log(
    `${count} organizations, ${seconds} s, load average before ${before}: lag median ${quantile([...lags.values()].flat(), 0.5)} s, ` +
      `95th ${quantile([...lags.values()].flat(), 0.95)} s, of the median organization ${quantile(
        [...lags.values()].map((own) => Number(quantile(own, 0.5)) * 1000),
        0.5,
      )} s; ` +
      `${loads} loads, ${failures} failed; ${loaded()} of ${acknowledged} acknowledged spans, drained after ${((performance.now() - ended) / 1000).toFixed(1)} s; ` +
      `${((await treeCpuSeconds(process.pid)) - cpuBefore).toFixed(1)} s of CPU with the senders; engines ${telemetry.enginesOpen}, ${Math.round(most)} MB at most`,
  );
} finally {
  server.closeAllConnections();
  server.close();
  await receiver.stop();
  await telemetry.stop();
  await removeDirectory(directory);
}
