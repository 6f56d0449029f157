import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { atWorker, callOnce, until } from './support/workers.ts';

const line = z.looseObject({
  level: z.string(),
  msg: z.string(),
  worker: z.number().optional(),
  applied: z.array(z.string()).optional(),
  key: z.string().optional(),
  why: z.string().optional(),
});
type Line = z.output<typeof line>;

/** What was logged that speaks of reloading. */
function logged(gateway: RunningGateway): readonly Line[] {
  return gateway
    .output()
    .split('\n')
    .filter((text) => text.startsWith('{"level"'))
    .map((text) => line.parse(JSON.parse(text)))
    .filter(({ msg }) => /reload|not taken/.test(msg));
}

const bodies = { sql: 'SELECT body FROM otel.logs' };
const noBodies = { governance: { rules: [{ columns: ['body'], action: 'deny' }] } };
const minutes = 60_000;

describe('SIGHUP', () => {
  let directory = '';
  let file = '';
  let gateway: RunningGateway | undefined;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    file = join(directory, 'sightline.config.json');
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
    await removeDirectory(directory);
  });

  async function start(config: object, workers: number): Promise<{ running: RunningGateway; token: string }> {
    await writeFile(file, JSON.stringify(config));
    const running = await startOne(directory, { workers, args: ['--no-demo', '--config', file], readyMs: 120_000 });
    gateway = running;
    return { running, token: await exchange(running.url, await createKey(directory, 'acme')) };
  }

  /** What is logged of it, once there are so many lines more. */
  async function reload(running: RunningGateway, config: object | string, lines: number): Promise<readonly Line[]> {
    const before = logged(running).length;
    await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config));
    running.process.kill('SIGHUP');
    await until('the log says what was reloaded', () => logged(running).length >= before + lines);
    return logged(running).slice(before);
  }

  it(
    'takes limits, rules and the log level, and names each key taken and each refused with its cause',
    async () => {
      const { running, token } = await start({}, 1);
      expect((await callTool(running.url, token, 'query_otel', bodies)).isError).toBe(false);

      const changed = {
        ...noBodies,
        limits: { maxCellBytes: 1_000 },
        allowedHosts: ['a.example'],
        agent: { plugin: 'llm' },
      };
      const wrong = await reload(running, changed, 1);
      expect(wrong).toMatchObject([{ level: 'error', msg: expect.stringContaining('all stays as it was') }]);
      expect((await callTool(running.url, token, 'query_otel', bodies)).isError).toBe(false);

      const { agent: _, ...valid } = changed;
      const said = await reload(running, { ...valid, storage: { filename: 'other.sqlite' } }, 3);
      expect(said).toEqual([
        expect.objectContaining({ level: 'info', applied: ['limits.maxCellBytes', 'governance.rules'] }),
        expect.objectContaining({ level: 'warn', key: 'allowedHosts', why: 'the server was set up with it; restart' }),
        expect.objectContaining({
          level: 'warn',
          key: 'storage.filename',
          why: 'its plugin was started with it; restart',
        }),
      ]);
      expect((await callTool(running.url, token, 'query_otel', bodies)).text).toContain('body');
      expect((await callTool(running.url, token, 'query_otel', bodies)).isError).toBe(true);

      await reload(running, '{ "limits": ', 1);
      expect((await callTool(running.url, token, 'query_otel', bodies)).isError).toBe(true);

      const slow = await reload(running, { limits: { requestsPerMinute: 1 } }, 1);
      expect(slow[0]?.applied).toEqual(['limits.requestsPerMinute', 'limits.maxCellBytes', 'governance.rules']);
      const statuses = new Set<number>();
      for (let call = 0; call < 25; call += 1) {
        statuses.add((await callTool(running.url, token, 'query_otel', bodies)).status);
      }
      expect([...statuses]).toEqual([200, 429]);

      await reload(running, { limits: { requestsPerMinute: 100_000 }, log: { level: 'error' } }, 1);
      expect((await callTool(running.url, token, 'query_otel', bodies)).status).toBe(200);
      const quiet = await reload(running, { unknown: 1 }, 1);
      expect(quiet).toMatchObject([{ level: 'error' }]);
      await reload(running, { log: { level: 'info' } }, 1);
      expect(running.process.exitCode).toBeNull();
    },
    3 * minutes,
  );

  it(
    'reaches all workers',
    async () => {
      const { running, token } = await start({}, 2);
      for (const worker of [1, 2]) {
        const called = await atWorker(running, worker, () => callOnce(running.url, token, 'query_otel', bodies));
        expect(called.isError).toBe(false);
      }
      const said = await reload(running, noBodies, 3);
      expect(new Set(said.map(({ worker }) => worker))).toEqual(new Set([1, 2, undefined]));
      expect(said.every(({ applied }) => applied?.join() === 'governance.rules')).toBe(true);
      for (const worker of [1, 2]) {
        const called = await atWorker(running, worker, () => callOnce(running.url, token, 'query_otel', bodies));
        expect(called.isError).toBe(true);
      }
      // One that is wrong does not get as far as the workers.
      expect(await reload(running, { unknown: 1 }, 1)).toMatchObject([{ level: 'error' }]);
    },
    3 * minutes,
  );

  it('changes nothing where the config is a program, and says so', async () => {
    file = join(directory, 'sightline.config.js');
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await writeFile(file, 'export default { limits: { maxCellBytes: 1000 } };\n');
    const running = await startOne(directory, { args: ['--no-demo', '--config', file], readyMs: 120_000 });
    gateway = running;
    const said = await reload(running, 'export default { limits: { maxCellBytes: 2000 } };\n', 1);
    expect(said).toMatchObject([{ level: 'error', msg: expect.stringContaining('a program is read once') }]);
  }, 180_000);

  it('config check names what a running gateway takes', async () => {
    await writeFile(file, '{}');
    const { stdout } = await sightline(directory, ['config', 'check', '--config', file]);
    expect(stdout).toContain('A running gateway takes on SIGHUP: log, limits.requestsPerMinute, ');
  });
});
