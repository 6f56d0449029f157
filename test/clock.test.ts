import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  startOne,
  temporaryDirectory,
  type Credentials,
  type RunningGateway,
} from './support/gateway.ts';
import { until } from './support/workers.ts';

/* A gateway under libfaketime, whose clock jumps while it runs; its monotonic clock goes on as ever, as in a real jump. */

const library = ['/usr/lib/x86_64-linux-gnu/faketime', '/usr/lib/aarch64-linux-gnu/faketime', '/usr/lib/faketime']
  .map((folder) => join(folder, 'libfaketime.so.1'))
  .find((file) => existsSync(file));
if (library === undefined) process.stderr.write('not run: jumps of the clock, without libfaketime\n');

const [hour, day] = [3_600, 86_400];
const jumps = [hour, 0, -hour, 0, day, 0, -day, 0] as const;
const chat = z.object({ chat_id: z.string() });
const read = z.object({ chat: z.object({ status: z.string() }) });

(library === undefined ? describe.skip : describe)('a gateway whose clock jumps', () => {
  let directory = '';
  let gateway: RunningGateway;
  let key: Credentials;
  const file = (): string => join(directory, 'clock');
  const jump = async (seconds: number): Promise<void> => {
    await writeFile(file(), `${seconds < 0 ? '' : '+'}${seconds}\n`);
    await sleep(200);
  };
  const start = (): Promise<RunningGateway> =>
    startOne(directory, {
      args: ['--no-demo', '--config', join(directory, 'sightline.config.json')],
      env: {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file(),
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        FAKETIME_NO_CACHE: '1',
      },
      workers: 1,
    });

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const agent = { plugin: join(root, 'test/support/slow-agent.ts'), steps: 4, stepMs: 300 };
    await writeFile(join(directory, 'sightline.config.json'), JSON.stringify({ agent }));
    await writeFile(file(), '+0\n');
    gateway = await start();
    key = await createKey(directory, 'acme');
  });
  afterAll(async () => {
    await gateway?.stop();
    await removeDirectory(directory);
  });

  const ended = async (id: string, bearer: string): Promise<boolean> => {
    const { isError, structured } = await callTool(gateway.url, bearer, 'read_chat', { chat_id: id });
    return !isError && read.parse(structured).chat.status === 'completed';
  };

  it('is one whose clock can be set by the test', async () => {
    await jump(day);
    const { date } = Object.fromEntries((await fetch(`${gateway.url}/livez`)).headers);
    expect(Math.abs(Date.parse(date ?? '') - Date.now() - day * 1_000)).toBeLessThan(60_000);
    await jump(0);
  });

  it('answers after each jump whoever exchanges a key then, and is ready', async () => {
    for (const at of jumps) {
      await jump(at);
      const bearer = await exchange(gateway.url, key);
      const { text } = await callTool(gateway.url, bearer, 'query_otel', { sql: 'SELECT 41 + 1 AS n' });
      expect([at, text]).toEqual([at, expect.stringContaining('42')]);
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    }
  });

  it('refuses after a jump ahead a token that is older than it may be, and takes one after a jump back', async () => {
    await jump(0);
    const bearer = await exchange(gateway.url, key);
    const status = async (at: number) => {
      await jump(at);
      return (await callTool(gateway.url, bearer, 'list_incidents', {})).status;
    };
    expect([await status(-hour), await status(-day), await status(day), await status(0)]).toEqual([200, 200, 401, 200]);
  });

  it('finishes an investigation that was under way, each way', async () => {
    for (const at of [hour, -hour, day, -day]) {
      await jump(0);
      const begun = await callTool(gateway.url, await exchange(gateway.url, key), 'start_chat', { message: 'Why?' });
      const { chat_id: id } = chat.parse(begun.structured);
      await jump(at);
      const bearer = await exchange(gateway.url, key);
      await until(`the chat ended at ${at}`, () => ended(id, bearer));
    }
  });

  it('finishes after it was killed one whose lease a clock gave that was a day ahead', async () => {
    await jump(day);
    const begun = await callTool(gateway.url, await exchange(gateway.url, key), 'start_chat', { message: 'Why?' });
    const { chat_id: id } = chat.parse(begun.structured);
    await sleep(500);
    await gateway.kill();
    await writeFile(file(), '+0\n');
    gateway = await start();
    const bearer = await exchange(gateway.url, key);
    await until('the chat ended', () => ended(id, bearer));
  });
});
