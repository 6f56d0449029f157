import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { listen } from './support/listen.ts';
import { scrape } from './support/scrape.ts';

/*
 * What the service tells of itself is sent by the real exporter to a real receiver, which is another gateway, and read
 * there with query_otel; its metrics are scraped.
 */

interface Seen {
  readonly gateway: RunningGateway;
  readonly directory: string;
  readonly accessToken: string;
  readonly ingestToken: string;
}

const ingestConfig = z.object({ token: z.string() });
const rowsShape = z.object({ rows: z.array(z.array(z.unknown())) });
const started: Seen[] = [];

async function start(ownTelemetry?: (self: string) => object, more: object = {}): Promise<Seen> {
  const directory = await temporaryDirectory();
  const port = await freePort();
  const config = join(directory, 'sightline.config.json');
  const { client_id, client_secret } = await createKey(directory, 'acme');
  const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'acme'], ingestConfig);
  await writeFile(
    config,
    JSON.stringify({ ...more, ...(ownTelemetry && { ownTelemetry: ownTelemetry(`http://127.0.0.1:${port}`) }) }),
  );
  const gateway = await startOne(directory, {
    port,
    workers: 1,
    args: ['--no-demo', '--config', config],
    env: { INGEST_TOKEN: token },
  });
  const seen = {
    gateway,
    directory,
    ingestToken: token,
    accessToken: await exchange(gateway.url, { client_id, client_secret }),
  };
  started.push(seen);
  return seen;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

async function mcp(
  { gateway, accessToken }: Seen,
  message: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
  });
}

async function query({ gateway, accessToken }: Seen, sql: string): Promise<readonly (readonly unknown[])[]> {
  const { structured, text } = await callTool(gateway.url, accessToken, 'query_otel', { sql });
  const parsed = rowsShape.safeParse(structured);
  if (!parsed.success) throw new Error(text);
  return parsed.data.rows;
}

/** Asks until there are so many rows. */
async function rowsOf(seen: Seen, sql: string, atLeast: number): Promise<readonly (readonly unknown[])[]> {
  let rows: readonly (readonly unknown[])[] = [];
  for (let attempt = 0; attempt < 150; attempt += 1) {
    rows = await query(seen, sql);
    if (rows.length >= atLeast) return rows;
    await delay(100);
  }
  throw new Error(`${rows.length} rows after 15 s, not ${atLeast}: ${sql}\n${seen.gateway.output()}`);
}

function metricsUrl({ gateway }: Seen): string {
  const [, url] = /"metrics":"([^"]+)"/.exec(gateway.output()) ?? [];
  if (url === undefined) throw new Error(gateway.output());
  return url;
}

afterAll(async () => {
  for (const { gateway, directory } of started) {
    await gateway.kill();
    await removeDirectory(directory);
  }
});

describe('by default', () => {
  it('nothing is listened on, sent or said', async () => {
    const plain = await start();
    await query(plain, 'SELECT 1');
    expect(plain.gateway.output()).not.toMatch(/metrics can be scraped|own telemetry/);
    expect((await fetch(`${plain.gateway.url}/metrics`)).status).toBe(404);
    await expect(fetch('http://127.0.0.1:9464/metrics')).rejects.toThrow();
    const { components } = z
      .object({ components: z.record(z.string(), z.string()) })
      .parse(await (await fetch(`${plain.gateway.url}/readyz`)).json());
    expect(Object.keys(components)).not.toContain('own telemetry');
  });
});

describe('traces', () => {
  let receiver: Seen;
  let watched: Seen;

  beforeAll(async () => {
    receiver = await start();
    watched = await start(() => ({
      otlp: {
        endpoint: receiver.gateway.url,
        headers: { Authorization: `Bearer ${receiver.ingestToken}` },
        intervalSeconds: 1,
      },
      prometheus: { enabled: true, port: 0 },
    }));
  });

  const columns = 'name, kind, status_code, trace_id, span_id, parent_span_id, attributes';

  it('a call is a span under the one its caller named in _meta, and its query a span under that', async () => {
    const [traceId, parent] = [hex(16), hex(8)];
    const answer = await mcp(
      watched,
      {
        method: 'tools/call',
        params: {
          name: 'query_otel',
          arguments: { sql: "SELECT 'the-secret-of-a-tenant'" },
          _meta: { traceparent: `00-${traceId}-${parent}-01`, tracestate: 'vendor=1' },
        },
      },
      {
        traceparent: `00-${hex(16)}-${hex(8)}-01`,
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-11-25',
      },
    );
    expect(answer.status).toBe(200);
    const spans = await rowsOf(
      receiver,
      `SELECT ${columns}, trace_state FROM otel.spans WHERE trace_id = '${traceId}' ORDER BY kind DESC`,
      2,
    );
    const [server, client] = spans;
    expect(spans).toHaveLength(2);
    expect(server?.slice(0, 4)).toEqual(['tools/call query_otel', 'SERVER', expect.anything(), traceId]);
    expect(server?.[5]).toBe(parent);
    expect(server?.[7]).toBe('vendor=1');
    expect(server?.[6]).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'query_otel',
      'gen_ai.operation.name': 'execute_tool',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': 'session-1',
      'network.transport': 'tcp',
      'jsonrpc.request.id': '7',
      'sightline.organization.id': expect.stringMatching(/^org_/),
      'sightline.request.id': expect.any(String),
    });
    expect(client?.slice(0, 2)).toEqual(['SELECT', 'CLIENT']);
    expect(client?.[5]).toBe(server?.[4]);
    expect(client?.[6]).toEqual({
      'db.system.name': 'duckdb',
      'db.operation.name': 'SELECT',
      'db.response.returned_rows': '1',
      'sightline.organization.id': expect.stringMatching(/^org_/),
    });
    expect(JSON.stringify(spans)).not.toContain('the-secret-of-a-tenant');
  });

  it('without _meta the HTTP header names the parent', async () => {
    const [traceId, parent] = [hex(16), hex(8)];
    await mcp(watched, { method: 'tools/list' }, { traceparent: `00-${traceId}-${parent}-01` });
    const [span] = await rowsOf(receiver, `SELECT ${columns} FROM otel.spans WHERE trace_id = '${traceId}'`, 1);
    expect([span?.[0], span?.[1], span?.[5]]).toEqual(['tools/list', 'SERVER', parent]);
  });

  it('failures have a type: of JSON-RPC its code, of a tool tool_error with our code', async () => {
    const [traceId, parent] = [hex(16), hex(8)];
    const _meta = { traceparent: `00-${traceId}-${parent}-01` };
    await mcp(watched, { method: 'made/up/by/the/caller', params: { _meta } });
    await mcp(watched, { method: 'tools/call', params: { name: 'made_up_by_the_caller', _meta } });
    await mcp(watched, { method: 'tools/call', params: { name: 'query_otel', arguments: { sql: 'SELEC 1' }, _meta } });
    const spans = await rowsOf(
      receiver,
      `SELECT ${columns} FROM otel.spans WHERE trace_id = '${traceId}' AND kind = 'SERVER' ORDER BY name`,
      3,
    );
    const seen = spans.map(([name, , status, , , , attributes]) => {
      const told = z.record(z.string(), z.string()).parse(attributes);
      return [name, status, told['error.type'], told['rpc.response.status_code'], told['sightline.error.code']];
    });
    expect(seen).toEqual([
      ['_OTHER', 'ERROR', '-32601', '-32601', undefined],
      ['tools/call', 'ERROR', '-32602', '-32602', undefined],
      ['tools/call query_otel', 'ERROR', 'tool_error', undefined, 'sql_syntax'],
    ]);
    expect(JSON.stringify(spans)).not.toMatch(/made.up.by|SELEC 1/);
  });

  it('what its caller does not sample is no span', async () => {
    const [unsampled, sampled] = [hex(16), hex(16)];
    await mcp(watched, { method: 'ping' }, { traceparent: `00-${unsampled}-${hex(8)}-00` });
    await mcp(watched, { method: 'ping' }, { traceparent: `00-${sampled}-${hex(8)}-01` });
    await rowsOf(receiver, `SELECT name FROM otel.spans WHERE trace_id = '${sampled}'`, 1);
    expect(await query(receiver, `SELECT name FROM otel.spans WHERE trace_id = '${unsampled}'`)).toEqual([]);
  });

  it('what begins here is kept by the ratio, and SQL is there only where the audit keeps it', async () => {
    const never = await start(
      () => ({
        otlp: {
          endpoint: receiver.gateway.url,
          headers: { Authorization: `Bearer ${receiver.ingestToken}` },
          signals: ['traces'],
          sampleRatio: 0,
        },
      }),
      { audit: { statements: true } },
    );
    await query(never, "SELECT 'begun here'");
    const traceId = hex(16);
    await mcp(never, {
      method: 'tools/call',
      params: {
        name: 'query_otel',
        arguments: { sql: "SELECT 'begun elsewhere'" },
        _meta: { traceparent: `00-${traceId}-${hex(8)}-01` },
      },
    });
    const told = "attributes['db.query.text']";
    await rowsOf(receiver, `SELECT ${told} FROM otel.spans WHERE trace_id = '${traceId}'`, 2);
    expect(await query(receiver, `SELECT ${told} FROM otel.spans WHERE ${told} IS NOT NULL`)).toEqual([
      ["SELECT 'begun elsewhere'"],
    ]);
  });

  it('a line of the log about a call names its span and its request', async () => {
    const traceId = hex(16);
    const _meta = { traceparent: `00-${traceId}-${hex(8)}-01` };
    await mcp(watched, {
      method: 'tools/call',
      params: { name: 'query_otel', arguments: { sql: 'SELECT 1/0::INT, error($$x$$)' }, _meta },
    });
    await mcp(watched, {
      method: 'tools/call',
      params: {
        name: 'query_otel',
        arguments: {
          sql: "SELECT CAST(service_name || 'x' AS INTEGER) FROM otel.spans UNION ALL SELECT CAST('y' AS INTEGER)",
        },
        _meta,
      },
    });
    await delay(200);
    const lines = watched.gateway
      .output()
      .split('\n')
      .filter((line) => line.includes(traceId));
    expect(lines.length).toBeGreaterThan(0);
    const [span] = await rowsOf(
      receiver,
      `SELECT span_id FROM otel.spans WHERE trace_id = '${traceId}' AND kind = 'SERVER' ORDER BY time DESC`,
      2,
    );
    const line = z
      .object({ request_id: z.uuid(), trace_id: z.literal(traceId), span_id: z.string() })
      .parse(JSON.parse(lines.at(-1) ?? ''));
    expect(line.span_id).toBe(span?.[0]);
  });

  it('metrics are sent, too', async () => {
    const [row] = await rowsOf(
      receiver,
      "SELECT count(*) FROM otel.metrics WHERE name = 'mcp.server.operation.duration' AND service_name = 'sightline' HAVING count(*) > 0",
      1,
    );
    expect(Number(row?.[0])).toBeGreaterThan(0);
  });

  it('metrics name no organization, and nothing that a caller made up', async () => {
    for (let at = 0; at < 40; at += 1) {
      await mcp(watched, { method: `made/up/${at}` });
      await mcp(
        watched,
        { method: 'tools/call', params: { name: `made_up_${at}` } },
        { 'mcp-protocol-version': '2025-06-18' },
      );
      await fetch(`${watched.gateway.url}/made/up/${at}`);
    }
    await fetch(`${watched.gateway.url}/v1/traces`, { method: 'POST', headers: { authorization: 'Bearer wrong' } });
    const { text, samples, value, types } = await scrape(metricsUrl(watched));
    expect(text).not.toMatch(/org_|made.?up|session-1/);
    expect(samples.length).toBeLessThan(1_500);
    expect(types.get('mcp_server_operation_duration_seconds')).toBe('histogram');
    const counted = 'mcp_server_operation_duration_seconds_count';
    expect(value(counted, { mcp_method_name: '_OTHER', error_type: '-32601' })).toBeGreaterThanOrEqual(40);
    expect(value(counted, { gen_ai_tool_name: 'query_otel', error_type: 'tool_error' })).toBeGreaterThanOrEqual(1);
    expect(value('http_server_request_duration_seconds_count', { http_route: '/oauth2/token' })).toBe(1);
    expect(
      value('http_server_request_duration_seconds_count', {
        http_route: '/v1/traces',
        http_response_status_code: '401',
      }),
    ).toBe(1);
    expect(value('db_client_operation_duration_seconds_count', { db_system_name: 'duckdb' })).toBeGreaterThanOrEqual(1);
    expect(value('sightline_engines_open')).toBe(1);
    expect(value('sightline_query_queue_waiting')).toBe(0);
    expect(value('process_memory_usage_bytes')).toBeGreaterThan(10_000_000);
    expect(value('process_cpu_time_seconds_total', { cpu_mode: 'user' })).toBeGreaterThan(0);
    const old = { v8js_heap_space_name: 'old_space' };
    expect(value('v8js_memory_heap_used_bytes', old)).toBeGreaterThan(1_000_000);
    expect(value('v8js_memory_heap_space_physical_size_bytes', old)).toBeGreaterThan(1_000_000);
  });

  it('the metrics listener answers GET /metrics alone', async () => {
    const url = metricsUrl(watched);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(url.replace('/metrics', '/'))).status).toBe(404);
    expect((await fetch(`${watched.gateway.url}/metrics`)).status).toBe(404);
  });
});

describe('the listener for metrics', () => {
  it('each of several workers has its own, at the port and the next', async () => {
    const directory = await temporaryDirectory();
    const port = await freePort();
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ ownTelemetry: { prometheus: { enabled: true, port } } }));
    const gateway = await startOne(directory, { workers: 2, args: ['--no-demo', '--config', config] });
    const instances = await Promise.all(
      [port, port + 1].map(async (each) => {
        const { samples } = await scrape(`http://127.0.0.1:${each}/metrics`);
        return samples.find(({ name }) => name === 'target_info')?.labels['service_instance_id'];
      }),
    );
    expect(new Set(instances).size).toBe(2);
    expect(await gateway.stop()).toBe(0);
    await removeDirectory(directory);
  });

  it('a port that is taken ends the start, and says which key it is', async () => {
    const taken = createServer();
    const port = await listen(taken);
    const directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ ownTelemetry: { prometheus: { enabled: true, port } } }));
    const { code, stderr } = await sightline(directory, ['serve', '--no-demo', '--port', '0', '--config', config]);
    taken.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining('another program listens there')]);
    expect(stderr).toContain('ownTelemetry.prometheus.port');
    await removeDirectory(directory);
  });
});

describe('sent to its own receiver', () => {
  it('what is sent is not recorded in its turn', async () => {
    const self = await start((url) => ({
      otlp: { endpoint: url, headers: { Authorization: 'Bearer ${env:INGEST_TOKEN}' }, intervalSeconds: 1 },
    }));
    for (let at = 0; at < 5; at += 1) await mcp(self, { method: 'ping' });
    await rowsOf(self, "SELECT span_id FROM otel.spans WHERE name = 'ping'", 5);
    const quietSince = Date.now();
    await delay(6_000);
    const [row] = await query(
      self,
      `SELECT count(*) FROM otel.spans WHERE time > make_timestamptz(${quietSince + 500}000::BIGINT)`,
    );
    // Several reports of metrics were taken meanwhile, and none made a span.
    expect(row).toEqual(['0']);
    const [names] = await query(self, "SELECT string_agg(DISTINCT name, ' ' ORDER BY name) FROM otel.spans");
    expect(names).toEqual(['SELECT ping tools/call query_otel']);
    const stopping = performance.now();
    expect(await self.gateway.stop()).toBe(0);
    expect(performance.now() - stopping).toBeLessThan(5_000);
  });
});

describe('an endpoint that does not answer', () => {
  const sockets = new Set<Socket>();
  let silent: Server;
  let silentUrl = '';

  beforeAll(async () => {
    silent = createServer((socket) => void sockets.add(socket));
    silentUrl = `http://127.0.0.1:${await listen(silent)}`;
  });

  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it.each(['refuses', 'is silent'])(
    'one that %s slows and fails nothing, is said once, and does not hold up the end',
    async (how) => {
      const endpoint = how === 'is silent' ? silentUrl : `http://127.0.0.1:${await freePort()}`;
      const cut = await start(
        () => ({ otlp: { endpoint, intervalSeconds: 1, headers: { 'X-Key': 'planted-header-secret' } } }),
        { limits: { requestsPerMinute: 10_000 } },
      );
      const before = performance.now();
      for (let at = 0; at < 300; at += 1) expect((await mcp(cut, { method: 'ping' })).status).toBe(200);
      expect((performance.now() - before) / 300).toBeLessThan(50);
      await delay(8_000);
      const said = cut.gateway.output().match(/own telemetry cannot be sent/g) ?? [];
      expect(said).toHaveLength(1);
      expect(cut.gateway.output()).not.toContain('planted-header-secret');
      const stopping = performance.now();
      expect(await cut.gateway.stop()).toBe(0);
      // Two seconds for what is unsent; the rest is what a stop takes anyway.
      expect(performance.now() - stopping).toBeLessThan(4_000);
    },
  );
});
