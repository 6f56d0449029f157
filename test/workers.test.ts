import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import type { Called } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
} from './support/gateway.ts';
import type { Credentials, RunningGateway } from './support/gateway.ts';
import { atWorker, client, until, workersOf } from './support/workers.ts';
import type { Client } from './support/workers.ts';

const sql = (text: string) => ({ sql: text });
const ingestConfig = z.object({ token: z.string() });
const chat = z.object({ chat_id: z.string() });
const cut = z.object({ result_id: z.string(), rows: z.array(z.tuple([z.number()])) });
const named = z.object({ rows: z.array(z.tuple([z.string(), z.string()])) });

/** One span of this name, as OTLP/JSON. */
function spanNamed(name: string): string {
  const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ name, startTimeUnixNano }] }] }] });
}

/** A `tools/call` on a connection of its own. */
async function callOnce(url: string, token: string, name: string, args: object): Promise<Called> {
  const single = client(url, { keepAlive: false });
  try {
    return await callThrough(single, token, name, args);
  } finally {
    single.close();
  }
}

const envelope = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.unknown().optional() }).optional(),
});

async function callThrough(through: Client, token: string, name: string, args: object): Promise<Called> {
  const { status, body } = await through.post(
    '/mcp',
    {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  );
  const { result } = status === 200 ? envelope.parse(JSON.parse(body)) : { result: undefined };
  return {
    status,
    isError: result === undefined || result.isError === true,
    structured: result?.structuredContent,
    text: body,
    raw: body,
  };
}

interface Load {
  /** Names of spans that were answered with 200. */
  readonly acknowledged: ReadonlySet<string>;
  /** What went wrong, by client. */
  readonly failures: ReadonlyMap<number, readonly string[]>;
  /** Requests answered as they should be. */
  readonly answered: number;
  stop(): Promise<void>;
}

/** Clients that each keep one connection and send one request after the other: half write spans, half query. */
function load(url: string, round: string, tokens: { readonly ingest: string; readonly mcp: string }): Load {
  const stop = new AbortController();
  const acknowledged = new Set<string>();
  const failures = new Map<number, string[]>();
  let answered = 0;
  const write = async (through: Client, name: string): Promise<string | undefined> => {
    const headers = { 'x-api-key': tokens.ingest, 'content-type': 'application/json' };
    const { status, body } = await through.post('/v1/traces', headers, spanNamed(name));
    if (status === 200) acknowledged.add(name);
    return status === 200 ? undefined : `${status} ${body}`;
  };
  const query = async (through: Client): Promise<string | undefined> => {
    const { isError, text } = await callThrough(through, tokens.mcp, 'query_otel', sql('SELECT 1 AS one'));
    return isError ? text : undefined;
  };
  const run = async (line: number): Promise<void> => {
    const through = client(url, { keepAlive: true });
    const failed: string[] = [];
    failures.set(line, failed);
    for (let turn = 0; !stop.signal.aborted; turn += 1) {
      const wrong = await (line % 2 === 0 ? write(through, `${round}/${line}/${turn}`) : query(through)).catch(
        (error: unknown) => `lost: ${String(error)}`,
      );
      if (wrong === undefined) answered += 1;
      else failed.push(wrong);
    }
    through.close();
  };
  const lines = Promise.all(Array.from({ length: 8 }, (_, line) => run(line)));
  return {
    acknowledged,
    failures,
    get answered() {
      return answered;
    },
    async stop() {
      stop.abort();
      await lines;
    },
  };
}

/** How often each span of a round is there. */
async function spansOf(url: string, token: string, round: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const page = 1_000;
  for (let offset = 0; ; offset += page) {
    const text = `SELECT name, count(*) AS n FROM otel.spans WHERE name LIKE '${round}/%' GROUP BY name ORDER BY name LIMIT ${page} OFFSET ${offset}`;
    const { structured } = await callTool(url, token, 'query_otel', { sql: text, max_rows: page });
    const { rows } = named.parse(structured);
    for (const [name, count] of rows) found.set(name, Number(count));
    if (rows.length < page) return found;
  }
}

/** Every acknowledged span is there, and no span twice. */
async function expectKept(url: string, token: string, round: string, acknowledged: ReadonlySet<string>): Promise<void> {
  let found: ReadonlyMap<string, number> = new Map();
  let missing: readonly string[] = [];
  const all = async (): Promise<boolean> => {
    found = await spansOf(url, token, round);
    missing = [...acknowledged].filter((name) => !found.has(name));
    return missing.length === 0;
  };
  await until('all spans are there', all).catch(() => undefined);
  expect(missing).toEqual([]);
  expect([...found].filter(([, count]) => count !== 1)).toEqual([]);
}

describe('a gateway with two workers', () => {
  let gateway: RunningGateway;
  let directory = '';
  let key: Credentials;
  let token = '';
  let ingest = '';
  beforeAll(async () => {
    directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 1_000_000 } }));
    gateway = await startGateway(directory, { args: ['--no-demo', '--config', config], workers: 2 });
    key = await createKey(directory, 'acme');
    token = await exchange(gateway.url, key);
    const { structured } = await callTool(gateway.url, token, 'get_ingest_config', {});
    ingest = ingestConfig.parse(structured).token;
  }, 60_000);
  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });
  const { anything } = expect;
  const at = <Result>(worker: number, work: () => Promise<Result>): Promise<Result> => atWorker(gateway, worker, work);
  const call = (name: string, args: object, bearer = token): Promise<Called> =>
    callOnce(gateway.url, bearer, name, args);
  const write = async (name: string): Promise<number> => {
    const through = client(gateway.url, { keepAlive: false });
    const headers = { 'x-api-key': ingest, 'content-type': 'application/json' };
    return (await through.post('/v1/traces', headers, spanNamed(name))).status;
  };

  it('takes telemetry at either and answers queries over all of it at both', async () => {
    expect([...workersOf(gateway)]).toEqual([
      [1, anything()],
      [2, anything()],
    ]);
    expect(new Set([...workersOf(gateway).values(), gateway.process.pid]).size).toBe(3);
    for (const worker of [1, 2]) {
      for (let span = 0; span < 5; span += 1) {
        expect(await at(worker, () => write(`both/${worker}/${span}`))).toBe(200);
      }
    }
    expect(await countRows(gateway.url, token, 'otel.spans', 10)).toBe(10);
    const count = sql("SELECT count(*) AS n FROM otel.spans WHERE name LIKE 'both/%'");
    for (const worker of [1, 2]) {
      expect((await at(worker, () => call('query_otel', count))).structured).toMatchObject({ rows: [['10']] });
    }
  }, 60_000);

  it('pages at one worker in what was cut at the other, for its own caller alone', async () => {
    const first = await at(1, () =>
      call('query_otel', { sql: 'SELECT unnest(range(300))::INTEGER AS n', max_rows: 10 }),
    );
    const { result_id, rows } = cut.parse(first.structured);
    expect(rows).toHaveLength(10);
    for (const worker of [2, 1]) {
      const page = await at(worker, () => call('query_otel', { result_id, offset: 10, max_rows: 2 }));
      expect(page.structured).toMatchObject({ rows: [[10], [11]] });
      const found = await at(worker, () => call('query_otel', { result_id, contains: '299' }));
      expect(found.structured).toMatchObject({ rows: [[299]] });
    }
    const other = await exchange(gateway.url, await createKey(directory, 'acme'));
    expect((await at(2, () => call('query_otel', { result_id }, other))).text).toContain('result_expired');
  }, 60_000);

  it('refuses a revoked key at every worker with the very next request', async () => {
    const doomed = await createKey(directory, 'acme');
    const bearer = await exchange(gateway.url, doomed);
    // Both have seen the token.
    for (const worker of [1, 2]) {
      expect((await at(worker, () => call('query_otel', sql('SELECT 1 AS one'), bearer))).isError).toBe(false);
    }
    expect((await sightline(directory, ['key', 'revoke', doomed.client_id, '--json'])).code).toBe(0);
    for (const worker of [1, 2]) {
      expect((await at(worker, () => call('query_otel', sql('SELECT 1 AS one'), bearer))).status).toBe(401);
    }
  }, 60_000);

  it('wakes who waits at one worker for a chat that is written to at the other', async () => {
    const started = await at(1, () => call('start_chat', { message: 'What is slow?' }));
    const { chat_id } = chat.parse(started.structured);
    for (const worker of [2, 1]) {
      expect((await at(worker, () => call('read_chat', { chat_id }))).isError).toBe(false);
    }
  }, 60_000);

  it('loses no acknowledged span when a worker is killed under load, and no request of the other worker', async () => {
    const before = workersOf(gateway);
    const running = load(gateway.url, 'killed', { ingest, mcp: token });
    await until('the load runs', () => running.answered > 400);
    const doomed = before.get(2) ?? 0;
    process.kill(doomed, 'SIGKILL');
    await until('another took its place', () => workersOf(gateway).get(2) !== doomed);
    const then = running.answered;
    await until('the load goes on', () => running.answered > then + 400);
    await running.stop();
    expect(workersOf(gateway).get(1)).toBe(before.get(1));
    // Each client had one connection, and one request on it: more than one failure is one at a healthy worker.
    for (const failed of running.failures.values()) {
      expect(failed.length).toBeLessThanOrEqual(1);
      for (const wrong of failed) expect(wrong).toMatch(/^lost: .*(ECONNRESET|socket hang up)/);
    }
    await expectKept(gateway.url, token, 'killed', running.acknowledged);
  }, 120_000);

  it('replaces its workers one by one on SIGUSR2 without one failed request', async () => {
    const before = workersOf(gateway);
    const first = await call('query_otel', { sql: 'SELECT unnest(range(300))::INTEGER AS n', max_rows: 10 });
    const { result_id } = cut.parse(first.structured);
    const running = load(gateway.url, 'rolled', { ingest, mcp: token });
    await until('the load runs', () => running.answered > 400);
    gateway.process.kill('SIGUSR2');
    await until('both were replaced', () => gateway.output().includes('restarted the workers'));
    const then = running.answered;
    await until('the load goes on', () => running.answered > then + 400);
    await running.stop();
    expect([...running.failures.values()].flat()).toEqual([]);
    const after = workersOf(gateway);
    expect([...after.keys()]).toEqual([1, 2]);
    for (const [worker, pid] of after) expect(pid).not.toBe(before.get(worker));
    await expectKept(gateway.url, token, 'rolled', running.acknowledged);
    expect((await call('query_otel', { result_id, offset: 298 })).structured).toMatchObject({ rows: [[298], [299]] });
  }, 120_000);

  it('keeps its workers when the configuration is wrong', async () => {
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 'many' } }));
    const before = [...workersOf(gateway)];
    gateway.process.kill('SIGUSR2');
    await until('it is said', () => gateway.output().includes('the workers are not restarted'));
    expect([...workersOf(gateway)]).toEqual(before);
    expect((await call('query_otel', sql('SELECT 1 AS one'))).isError).toBe(false);
  }, 60_000);

  it('has not the directory taken by a second gateway', async () => {
    const { code, stderr } = await sightline(directory, [
      'serve',
      '--port',
      '0',
      '--workers',
      '2',
      '--config',
      '/dev/null',
    ]);
    expect(stderr).toContain('in use by process');
    expect(code).toBe(1);
  }, 60_000);
});

describe('the number of workers', () => {
  it('may change after a crash: what the killed workers acknowledged is loaded by those there are', async () => {
    const directory = await temporaryDirectory();
    let gateway = await startGateway(directory, { workers: 3 });
    try {
      const mcp = await exchange(gateway.url, await createKey(directory, 'acme'));
      const { structured } = await callTool(gateway.url, mcp, 'get_ingest_config', {});
      const ingest = ingestConfig.parse(structured).token;
      const running = load(gateway.url, 'crashed', { ingest, mcp });
      await until('the load runs', () => running.answered > 200);
      await gateway.kill();
      await running.stop();
      gateway = await startGateway(directory, { workers: 1 });
      await expectKept(gateway.url, mcp, 'crashed', running.acknowledged);
      expect(await gateway.stop()).toBe(0);
      gateway = await startGateway(directory, { workers: 2 });
      await expectKept(gateway.url, mcp, 'crashed', running.acknowledged);
    } finally {
      await gateway.stop();
      await removeDirectory(directory);
    }
  }, 120_000);
});

describe('the rate limit of a principal', () => {
  it('is one for all workers', async () => {
    const directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 12 } }));
    const gateway = await startGateway(directory, { args: ['--no-demo', '--config', config], workers: 2 });
    try {
      const token = await exchange(gateway.url, await createKey(directory, 'acme'));
      const spend = async (): Promise<number> => (await callOnce(gateway.url, token, 'list_chats', {})).status;
      // The burst is 20.
      for (let turn = 0; turn < 20; turn += 1) expect(await atWorker(gateway, 1, spend)).toBe(200);
      await delay(200);
      expect(await atWorker(gateway, 2, spend)).toBe(429);
    } finally {
      await gateway.stop();
      await removeDirectory(directory);
    }
  }, 60_000);
});

describe('serve --workers', () => {
  it('says why it cannot start, once', async () => {
    const directory = await temporaryDirectory();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const inUse = await sightline(directory, ['serve', '--workers', '2', '--port', String(port)]);
      expect(inUse.stderr).toContain('another program listens there');
      expect(inUse.code).toBe(1);
      const config = join(directory, 'broken.json');
      await writeFile(config, JSON.stringify({ storage: { plugin: './nothing.ts' } }));
      const broken = await sightline(directory, ['serve', '--workers', '2', '--port', '0', '--config', config]);
      expect(broken.stderr.match(/error:/g)).toHaveLength(1);
      expect(broken.code).toBe(3);
      for (const wrong of ['0', '65', 'two', '-1']) {
        expect((await sightline(directory, ['serve', `--workers=${wrong}`])).code).toBe(2);
      }
    } finally {
      taken.close();
      await removeDirectory(directory);
    }
  }, 60_000);
});
