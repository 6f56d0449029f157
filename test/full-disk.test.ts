import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import { createKey, exchange, sightline, sightlineJson, startOne, type RunningGateway } from './support/gateway.ts';
import { smallDisk } from './support/small-disk.ts';

/* A gateway that keeps everything itself, on a file system that is full for a while. */

const disk = await smallDisk(128);

(disk === undefined ? describe.skip : describe)('a gateway whose disk is full', () => {
  let gateway: RunningGateway;
  let token = '';
  let ingest = '';

  beforeAll(async () => {
    if (disk === undefined) return;
    gateway = await startOne(disk.directory, { workers: 1 });
    token = await exchange(gateway.url, await createKey(disk.directory, 'acme'));
    const shown = await sightlineJson(
      disk.directory,
      ['ingest', 'show', '--org', 'acme'],
      z.object({ token: z.string() }),
    );
    ingest = shown.token;
  });
  afterAll(async () => {
    await gateway?.stop();
    await disk?.release();
  });

  async function send(lines: number): Promise<{ readonly status: number; readonly text: string }> {
    const timeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
    // Longer than the gateway's files have left over.
    const body = { stringValue: 'x'.repeat(1_000) };
    const logRecords = Array.from({ length: lines }, () => ({ timeUnixNano, severityNumber: 9, body }));
    const response = await fetch(`${gateway.url}/v1/logs`, {
      method: 'POST',
      headers: { 'x-api-key': ingest, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
    });
    return { status: response.status, text: await response.text() };
  }
  const ask = (message: string) => callTool(gateway.url, token, 'start_chat', { message });
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).text();

  it('says so, loses nothing acknowledged, and goes on by itself once there is room', async () => {
    let acknowledged = 0;
    const sendOn = async (requests: number): Promise<number> => {
      let refused = 0;
      for (let turn = 0; turn < requests; turn += 1) {
        const { status, text } = await send(100);
        if (status === 200) acknowledged += 100;
        else {
          expect([status, text]).toEqual([503, expect.stringContaining('The disk is full')]);
          refused += 1;
        }
      }
      return refused;
    };
    expect(await sendOn(10)).toBe(0);
    expect((await ask('Before?')).isError).toBe(false);
    await countRows(gateway.url, token, 'otel.logs', acknowledged);

    const makeRoom = await disk?.fill();
    expect(await sendOn(20)).toBeGreaterThan(0);
    expect(await ready()).toContain('"the OTLP receiver":"degraded"');
    const refused = await ask('Meanwhile?');
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/storage|recorded/);

    await makeRoom?.();
    for (let look = 0; (await ask('After?')).isError; look += 1) {
      if (look === 300) throw new Error(`it does not go on: ${gateway.output().slice(-2_000)}`);
      await sleep(100);
    }
    expect(await sendOn(10)).toBe(0);
    expect(await countRows(gateway.url, token, 'otel.logs', acknowledged)).toBe(acknowledged);
    expect(await ready()).not.toContain('degraded');
    expect(gateway.output()).toMatch(/the disk is full/i);
  });

  it('is called full by a command too, that has to open the files first', async () => {
    if (disk === undefined) return;
    await gateway.stop();
    await disk.fill();
    const listed = await sightline(disk.directory, ['org', 'list']);
    expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('the disk is full')]);
  });
});
