import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool, type Called } from './support/call.ts';
import { listAndCallAll, progressOf, type ClientKind } from './support/clients.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  shareGateway,
  sightline,
  sightlineJson,
  startGateway,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { sharedStorages } from './support/stores.ts';
import type { TwoGateways } from './support/two-gateways.ts';
import { until } from './support/workers.ts';

/* Two gateways of their own data directories behind a proxy that gives them requests in turn. */

const started = z.object({ chat_id: z.string() });
const cut = z.object({ result_id: z.string() });
const listed = z.array(z.object({ id: z.string(), name: z.string() }));
const read = z.object({
  chat: z.object({ status: z.string() }),
  messages: z.array(z.object({ id: z.string(), role: z.string(), content: z.string() })),
});
const sql = { sql: 'SELECT 1 AS one' };
const agent = { plugin: join(root, 'test/support/slow-agent.ts'), steps: 8, stepMs: 400 };

const { storages, done } = await sharedStorages();
afterAll(done);

describe.each(storages)('two gateways with their storage on %s', (storage) => {
  let two: TwoGateways;
  let gateway: RunningGateway;
  let [here, there]: RunningGateway[] = [];
  let directory = '';
  const urls = (): readonly string[] => [here?.url ?? '', there?.url ?? ''];

  beforeAll(async () => {
    directory = await temporaryDirectory();
    two = await shareGateway(directory, storage);
    // Of a principal alone: all tests here are of one organization.
    const limits = { requestsPerMinute: 12, organizationRequestsPerMinute: 10_000 };
    await writeFile(join(directory, 'sightline.config.json'), JSON.stringify({ agent, limits }));
    gateway = await startGateway(directory);
    [here, there] = gateway.each ?? [];
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    await removeDirectory(directory);
  });

  const token = async (): Promise<string> => exchange(gateway.url, await createKey(directory, 'acme'));
  const call = (at: number, bearer: string, name: string, args: object): Promise<Called> =>
    callTool(urls()[at] ?? '', bearer, name, { ...args });

  it('were started at once on an empty database: one set of signing keys, one organization, one key shown', async () => {
    const sets = await Promise.all(urls().map(async (url) => (await fetch(`${url}/oauth2/jwks`)).text()));
    expect(sets[0]).toContain('"kid"');
    expect(sets[1]).toBe(sets[0]);
    await until('it is greeted', () => gateway.output().includes('client_secret'));
    expect(gateway.output().split('client_secret ').length).toBe(2);
    const organizations = await sightlineJson(directory, ['org', 'list'], listed);
    expect(organizations.map(({ name }) => name)).toEqual(['default']);
  });

  it.each<ClientKind>(['sdk-v1', 'sdk-v2-auto', 'sdk-v2-pinned'])('serve %s', async (kind) => {
    const bearer = await token();
    const chat = started.parse((await callTool(gateway.url, bearer, 'start_chat', { message: 'x' })).structured);
    const calls = [
      { name: 'query_otel', arguments: sql },
      { name: 'get_ingest_config', arguments: {} },
      { name: 'list_incidents', arguments: {} },
      { name: 'list_chats', arguments: { mine: true } },
      { name: 'read_chat', arguments: chat },
      { name: 'send_chat_reply', arguments: { ...chat, message: 'and?' } },
    ];
    const run = await listAndCallAll(kind, { url: `${gateway.url}/mcp`, token: bearer, calls });
    expect(run.tools).toHaveLength(8);
    expect(run.outcomes.filter(({ isError }) => isError)).toEqual([]);
  });

  it('refuse a revoked key with the very next request, at each', async () => {
    const doomed = await createKey(directory, 'acme');
    const bearer = await exchange(gateway.url, doomed);
    for (const at of [0, 1]) expect((await call(at, bearer, 'query_otel', sql)).isError).toBe(false);
    expect((await sightline(directory, ['key', 'revoke', doomed.client_id, '--json'])).code).toBe(0);
    for (const at of [0, 1]) expect((await call(at, bearer, 'query_otel', sql)).status).toBe(401);
  });

  it('page at each in what was cut at the other, for its own caller alone', async () => {
    const [bearer, stranger] = [await token(), await token()];
    const many = { sql: 'SELECT generate_series(0, 299) AS n', max_rows: 10 };
    for (const at of [0, 1]) {
      const { result_id } = cut.parse((await call(at, bearer, 'query_otel', many)).structured);
      for (const other of [1, 0]) {
        const page = await call(other, bearer, 'query_otel', { result_id, offset: 10, max_rows: 2 });
        expect(page.structured).toMatchObject({ rows: [[10], [11]], warnings: [] });
        const found = await call(other, bearer, 'query_otel', { result_id, contains: '299' });
        expect(found.structured).toMatchObject({ rows: [[299]] });
      }
      expect((await call(1 - at, stranger, 'query_otel', { result_id })).text).toContain('result_expired');
    }
  });

  it('tell a reader at one of what is said at the other', async () => {
    const bearer = await token();
    const { structured } = await call(0, bearer, 'start_chat', { message: 'Why is it slow?' });
    const chat = started.parse(structured);
    const { messages: earlier } = read.parse((await call(1, bearer, 'read_chat', chat)).structured);
    const reading = call(1, bearer, 'read_chat', { ...chat, after_message_id: earlier[0]?.id, wait_seconds: 20 });
    await delay(500);
    const said = performance.now();
    await call(0, bearer, 'send_chat_reply', { ...chat, message: 'only payment' });
    const { messages } = read.parse((await reading).structured);
    expect(messages.map(({ content }) => content)).toEqual(['only payment']);
    expect(performance.now() - said).toBeLessThan(2_000);
  });

  it('tell a client that waits what the agent does, at whichever it works', async () => {
    const bearer = await token();
    const chat = started.parse((await call(0, bearer, 'start_chat', { message: 'What do you do?' })).structured);
    const waits = { name: 'read_chat', arguments: { ...chat, wait_seconds: 20 } };
    const heard = await Promise.all(
      (['sdk-v1', 'sdk-v2'] as const).flatMap((kind) =>
        urls().map((url) => progressOf(kind, { url: `${url}/mcp`, token: bearer, call: waits })),
      ),
    );
    for (const messages of heard)
      expect(messages).toEqual(expect.arrayContaining([expect.stringMatching(/^At step \d$/)]));
  });

  it('stop the agent for who says so at either', async () => {
    const bearer = await token();
    const taken = (question: string): number =>
      [here, there].reduce((sum, each) => sum + (each?.output().split(`${question}: `).length ?? 1) - 1, 0);
    for (const at of [0, 1]) {
      const question = `stop at ${at}`;
      const chat = started.parse((await call(0, bearer, 'start_chat', { message: question })).structured);
      await until('it works', () => taken(question) > 0);
      const stopped = await call(at, bearer, 'send_chat_reply', { ...chat, message: 'stop' });
      expect(stopped.structured).toMatchObject({ status: 'cancelled' });
      await delay(1_500);
      const steps = taken(question);
      await delay(1_200);
      expect([question, taken(question)]).toEqual([question, steps]);
      expect(steps).toBeLessThan(8);
      const { messages } = read.parse((await call(1 - at, bearer, 'read_chat', chat)).structured);
      expect(messages.map(({ content }) => content)).toEqual([question, 'Cancelled.']);
    }
  });

  it('let a principal through once, not once each', async () => {
    const bearer = await token();
    let spent = 0;
    // The burst is 20.
    while ((await call(0, bearer, 'list_chats', {})).status === 200) spent += 1;
    expect(spent).toBeGreaterThanOrEqual(20);
    expect(spent).toBeLessThan(30);
    await delay(3_000);
    const answers = [];
    for (let turn = 0; turn < 4; turn += 1) answers.push((await call(1, bearer, 'list_chats', {})).status);
    expect(answers).toContain(429);
    expect((await call(1, await token(), 'list_chats', {})).status).toBe(200);
  });

  it('go on with the investigation of one that was killed, no step twice and none lost', async () => {
    const bearer = await token();
    const before = [here, there].map((each) => each?.output().length ?? 0);
    const taken = (at: number): readonly string[] =>
      [...([here, there][at]?.output().slice(before[at]) ?? '').matchAll(/^survive: (.*)$/gm)].map(
        ([, step = '']) => step,
      );
    const chat = started.parse((await call(0, bearer, 'start_chat', { message: 'survive' })).structured);
    const status = async (at: number): Promise<string> =>
      read.parse((await call(at, bearer, 'read_chat', chat)).structured).chat.status;
    await until('somebody is at the fourth step', () => [0, 1].some((at) => taken(at).includes('step 4')));
    const doomed = taken(0).includes('step 4') ? 0 : 1;
    const survivor = 1 - doomed;
    const [killed, left] = [[here, there][doomed], [here, there][survivor]];
    if (killed === undefined || left === undefined) throw new Error('there are two');
    await killed.kill();
    two.front.to([left.url]);
    await until('the other one has taken over', () => taken(survivor).includes('step 8'));
    await until('it has answered', async () => (await status(survivor)) === 'completed');
    const { messages } = read.parse((await call(survivor, bearer, 'read_chat', chat)).structured);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'agent']);
    const [first, rest] = [taken(doomed), taken(survivor)];
    // The last one before the kill may have been announced and not stored.
    expect(Number(rest[0]?.slice(5))).toBeGreaterThanOrEqual(first.length);
    expect(Number(rest[0]?.slice(5))).toBeLessThanOrEqual(first.length + 1);
    expect(rest).toEqual(Array.from({ length: rest.length }, (_, index) => `step ${9 - rest.length + index}`));
  }, 120_000);
});

describe('two gateways that keep telemetry in data directories of their own', () => {
  it('are told at the start that they need a warehouse, and the second one does not start', async () => {
    const directory = await temporaryDirectory();
    const two = await shareGateway(directory, 'postgres');
    const file = join(directory, 'sightline.config.json');
    await writeFile(file, JSON.stringify({ telemetry: { plugin: 'duckdb' } }));
    const options = { args: two.configured(['--no-demo']) };
    const first = await startOne(directory, options);
    const second = await temporaryDirectory();
    await copyFile(join(directory, 'master.key'), join(second, 'master.key'));
    try {
      expect(first.output()).toContain('storage is on a server, but telemetry is in the data directory');
      const start = startOne(second, options);
      await expect(start).rejects.toThrow(/keeps telemetry in a data directory of its own.*need a warehouse/s);
      await first.stop();
      // Whoever has ended in order is in nobody's way.
      await (await startOne(second, options)).stop();
    } finally {
      await first.stop();
      await removeDirectory(second);
      await removeDirectory(directory);
    }
  }, 120_000);
});
