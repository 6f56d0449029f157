import { afterEach, describe, expect, it } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Harness, newOrganization } from '../plugins/telemetry-duckdb/support/harness.ts';
import { silentLogger } from './contract/host.ts';
import { createOtlpReceiver } from '../src/telemetry/ingest/receiver.ts';

/* 200 means durable: whatever is killed, and whenever, each acknowledged span is in the warehouse exactly once. */

const organizationId = newOrganization();
const token = 'it_crash';
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startProcess(directory: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = fork(new URL('support/ingest-process.ts', import.meta.url), [directory, organizationId, token], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  children.push(child);
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('it did not start'))),
  ]);
  return { child, url: `http://127.0.0.1:${String(port)}` };
}

async function killed(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function engines(directory: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const line = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : '';
    if (line.includes('engine/main') && line.includes(directory)) found.push(Number(name));
  }
  return found;
}

/** False where the process has ended by itself: the engine of a gateway that was killed before. */
function kills(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Sends requests of 25 spans over several connections until told to stop; each span has a name that is sent once. */
async function send(url: string, round: string, acknowledged: Set<string>, stop: AbortSignal): Promise<void> {
  const connection = async (line: number): Promise<void> => {
    for (let turn = 0; !stop.aborted; turn += 1) {
      const names = Array.from({ length: 25 }, (_, index) => `${round}/${line}/${turn}/${index}`);
      const startTimeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
      const attributes = [{ key: 'http.route', value: { stringValue: `/${line}` } }];
      const ids = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8) };
      const spans = names.map((name) => ({ ...ids, name, startTimeUnixNano, attributes }));
      try {
        const response = await fetch(`${url}/v1/traces`, {
          method: 'POST',
          headers: { 'x-api-key': token, 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: Uint8Array.from(gzipSync(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))),
        });
        if (response.status === 200) for (const name of names) acknowledged.add(name);
        await response.arrayBuffer();
      } catch {
        // Killed while it was asked; nobody promised anything.
        if (stop.aborted) return;
        await sleep(20);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(connection));
}

describe('kill -9 under load', () => {
  it('loses no acknowledged span and doubles none, gateway and engine killed at any time', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sl-crash-'));
    const acknowledged = new Set<string>();
    let enginesKilled = 0;
    for (let round = 0; round < 4; round += 1) {
      const { child, url } = await startProcess(directory);
      const stop = new AbortController();
      const sending = send(url, String(round), acknowledged, stop.signal);
      await sleep(200 + Math.random() * 1200);
      if (round % 2 === 1) {
        for (const pid of await engines(directory)) if (kills(pid)) enginesKilled += 1;
        await sleep(Math.random() * 800);
      }
      await killed(child);
      stop.abort();
      await sending;
    }
    expect(acknowledged.size).toBeGreaterThan(1000);
    expect(enginesKilled).toBeGreaterThan(0);

    const harness = await Harness.start({}, directory);
    const receiver = createOtlpReceiver({
      directory: { ingestTokenByHash: async () => undefined, organizations: async () => [] },
      sink: harness.telemetry.sink,
      dataDirectory: directory,
      retentionDays: () => 30,
      logger: silentLogger,
      now: () => new Date(),
    });
    try {
      await receiver.start(new AbortController().signal);
      const limits = { maxRows: 1_000_000, maxBytes: 200_000_000 };
      const stored = new Map<string, number>();
      for (let tries = 0; tries < 100; tries += 1) {
        const answer = await harness.query(organizationId, 'SELECT name, count(*) FROM otel.spans GROUP BY name', {
          limits,
        });
        stored.clear();
        for (const [name, count] of answer.rows) stored.set(String(name), Number(count));
        if ([...acknowledged].every((name) => stored.has(name))) break;
        await sleep(100);
      }
      expect([...acknowledged].filter((name) => !stored.has(name))).toEqual([]);
      expect([...stored].filter(([, count]) => count !== 1)).toEqual([]);
    } finally {
      await receiver.stop();
      await harness.stop();
    }
  });
});
