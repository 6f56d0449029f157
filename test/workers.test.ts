import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { countRows, type Called } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { ingestTokenOf, writeSpan } from './support/load.ts';
import {
  atWorker,
  callOnce,
  callThrough,
  client,
  headersFor,
  requestOf,
  until,
  workersOf,
  type Client,
} from './support/workers.ts';

const sql = (text: string) => ({ sql: text });
const chat = z.object({ chat_id: z.string() });
const cut = z.object({ result_id: z.string(), rows: z.array(z.tuple([z.number()])) });

describe('a gateway with two workers', () => {
  let gateway: RunningGateway;
  let directory = '';
  let token = '';
  let ingest = '';
  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startOne(directory, { workers: 2 });
    token = await exchange(gateway.url, await createKey(directory, 'acme'));
    ingest = await ingestTokenOf(gateway.url, token);
  });
  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });
  const { anything } = expect;
  const at = <Result>(worker: number, work: () => Promise<Result>): Promise<Result> => atWorker(gateway, worker, work);
  const call = (name: string, args: object, bearer = token): Promise<Called> =>
    callOnce(gateway.url, bearer, name, args);
  /** A client whose one connection is that worker's. */
  const connected = (worker: number): Promise<Client> =>
    at(worker, async () => {
      const through = client(gateway.url, { keepAlive: true });
      expect((await callThrough(through, token, 'list_chats', {})).isError).toBe(false);
      return through;
    });
  const write = (name: string): Promise<number> => writeSpan(client(gateway.url, { keepAlive: false }), ingest, name);

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
  });

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
  });

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
  });

  it('wakes who waits at one worker for the answer of an agent that was asked at the other', async () => {
    const [first, second] = [await connected(1), await connected(2)];
    const started = await callThrough(second, token, 'start_chat', { message: 'What is slow?' });
    const { chat_id } = chat.parse(started.structured);
    const answer = await callThrough(first, token, 'read_chat', { chat_id, wait_seconds: 25 });
    expect(answer.structured).toMatchObject({ chat: { status: expect.not.stringMatching('running') } });
    first.close();
    second.close();
  });

  it('cancels a call at one worker for a client that says so at the other', async () => {
    const [first, second] = [await connected(1), await connected(2)];
    const session = { 'mcp-session-id': 'session-of-two-connections' };
    const slow =
      'SELECT count(*) FROM (SELECT unnest(range(200000)) AS a), (SELECT unnest(range(200000)) AS b) WHERE a % 7 = b % 5';
    let over = false;
    const cancelled = first
      .post('/mcp', { ...headersFor(token), ...session }, requestOf(7, 'query_otel', sql(slow)))
      .finally(() => (over = true));
    const message = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    await until('it is over', async () => {
      expect((await second.post('/mcp', { ...headersFor(token), ...session }, message)).status).toBe(202);
      return over;
    });
    // No answer at all; a query that ran out of time has one.
    expect(await cancelled).toEqual({ status: 200, body: '' });
    first.close();
    second.close();
  });

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
  });
});

describe('the rate limit of a principal', () => {
  it('is one for all workers', async () => {
    const directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 12 } }));
    const gateway = await startOne(directory, { args: ['--no-demo', '--config', config], workers: 2 });
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
  });
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
  });
});
