import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  createKey,
  exchange,
  removeDirectory,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { expectKept, ingestTokenOf, load, writeSpan } from './support/load.ts';
import { atWorker, callOnce, client, until, workersOf } from './support/workers.ts';

const cut = z.object({ result_id: z.string() });
const unlimited = JSON.stringify({ limits: { requestsPerMinute: 1_000_000 } });

describe('workers that end', () => {
  let gateway: RunningGateway;
  let directory = '';
  let config = '';
  let token = '';
  let ingest = '';
  beforeAll(async () => {
    directory = await temporaryDirectory();
    config = join(directory, 'sightline.config.json');
    await writeFile(config, unlimited);
    gateway = await startOne(directory, { args: ['--no-demo', '--config', config], workers: 2 });
    token = await exchange(gateway.url, await createKey(directory, 'acme'));
    ingest = await ingestTokenOf(gateway.url, token);
  });
  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });
  const query = (args: object) => callOnce(gateway.url, token, 'query_otel', args);

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
    const first = await query({ sql: 'SELECT unnest(range(300))::INTEGER AS n', max_rows: 10 });
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
    expect((await query({ result_id, offset: 298 })).structured).toMatchObject({ rows: [[298], [299]] });
  }, 120_000);

  it('keeps its workers when the configuration is wrong', async () => {
    await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 'many' } }));
    const before = [...workersOf(gateway)];
    gateway.process.kill('SIGUSR2');
    await until('it is said', () => gateway.output().includes('the workers are not restarted'));
    expect([...workersOf(gateway)]).toEqual(before);
    expect((await query({ sql: 'SELECT 1 AS one' })).isError).toBe(false);
  });
});

describe('the number of workers', () => {
  it('may change after a crash: what the killed workers acknowledged is loaded by those there are', async () => {
    const directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    const args = ['--no-demo', '--config', config];
    await writeFile(config, unlimited);
    let gateway = await startOne(directory, { args, workers: 3 });
    try {
      const key = await createKey(directory, 'acme');
      const ingest = await ingestTokenOf(gateway.url, await exchange(gateway.url, key));
      const acknowledged = new Set<string>();
      // Within the second that a worker waits for more before it loads.
      for (const worker of [1, 2, 3]) {
        await atWorker(gateway, worker, async () => {
          const through = client(gateway.url, { keepAlive: true });
          for (let turn = 0; turn < 5; turn += 1) {
            const name = `crashed/${worker}/${turn}`;
            if ((await writeSpan(through, ingest, name)) === 200) acknowledged.add(name);
          }
          through.close();
        });
      }
      await gateway.kill();
      expect(acknowledged.size).toBe(15);
      gateway = await startOne(directory, { args, workers: 1 });
      await expectKept(gateway.url, await exchange(gateway.url, key), 'crashed', acknowledged);
      expect(await gateway.stop()).toBe(0);
      gateway = await startOne(directory, { args, workers: 2 });
      await expectKept(gateway.url, await exchange(gateway.url, key), 'crashed', acknowledged);
    } finally {
      await gateway.stop();
      await removeDirectory(directory);
    }
  }, 120_000);
});

describe('a gateway that is to end', () => {
  it('says for a while that it is not ready, and serves meanwhile, with workers and without', async () => {
    for (const workers of [2, 1]) {
      const directory = await temporaryDirectory();
      const config = join(directory, 'sightline.config.json');
      await writeFile(config, JSON.stringify({ listen: { leaveSeconds: 3 } }));
      const gateway = await startOne(directory, { args: ['--no-demo', '--config', config], workers });
      try {
        const token = await exchange(gateway.url, await createKey(directory, 'acme'));
        const ended = gateway.stop();
        await until('it is not ready', async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
        expect((await callOnce(gateway.url, token, 'list_chats', {})).isError).toBe(false);
        expect(await ended).toBe(0);
        await expect(fetch(`${gateway.url}/readyz`)).rejects.toThrow('fetch failed');
      } finally {
        await gateway.kill();
        await removeDirectory(directory);
      }
    }
  });
});
