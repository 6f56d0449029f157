import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  root,
  removeDirectory,
  startGateway,
  temporaryDirectory,
  createKey,
  exchange,
} from '../test/support/gateway.ts';
import { callTool } from '../test/support/call.ts';
import { findProcesses, residentMb } from './support/process.ts';

/*
 * From `npm start` to the first request served on an existing workspace, and the memory of a gateway that has nothing to
 * do, its engine beside it. Usage: node bench/startup.ts [runs, 7]
 */

const runs = Number(process.argv[2] ?? 7);
const idleMs = 5_000;
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const directory = await temporaryDirectory();
const port = 20_000 + (process.pid % 20_000);
try {
  const first = await startGateway(directory);
  const token = await exchange(first.url, await createKey(directory, 'bench'));
  await callTool(first.url, token, 'query_otel', { sql: 'select 1' });
  await first.stop();

  const times: number[] = [];
  const memory: { gateway: number; engine: number }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now();
    const npm = spawn('npm', ['start', '--', '--data', directory, '--port', String(port), '--no-demo'], {
      cwd: root,
      stdio: 'ignore',
      detached: true,
    });
    while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok) await delay(5);
    times.push(performance.now() - began);
    const pid: number = JSON.parse(await readFile(join(directory, 'gateway.json'), 'utf8')).pid;
    await delay(idleMs);
    const [engine] = await findProcesses('engine/main', directory);
    memory.push({ gateway: (await residentMb(pid)).now, engine: engine ? (await residentMb(engine)).now : 0 });
    const ended = once(npm, 'exit');
    process.kill(pid, 'SIGTERM');
    await ended;
  }
  console.table([
    {
      'npm start to first request, ms (median)': Math.round(median(times)),
      'slowest, ms': Math.round(Math.max(...times)),
      'idle gateway RSS, MB (median)': median(memory.map(({ gateway }) => gateway)),
      'idle engine RSS, MB (median, 0 = not running)': median(memory.map(({ engine }) => engine)),
      runs,
    },
  ]);
} finally {
  await removeDirectory(directory);
}
