import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from '../test/support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../test/support/gateway.ts';
import { findProcesses } from './support/process.ts';

/*
 * kill -9 under full ingest load: of an organization's DuckDB engine, and of the gateway, which is started again at once.
 * How long until a query over the telemetry is answered? Usage: node bench/recovery.ts [kills of each, 5]
 */

const kills = Number(process.argv[2] ?? 5);
const loadMs = 4_000;
const sql = 'SELECT count(*) FROM otel.spans';
const round = (ms: number): number => Math.round(ms);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const directory = await temporaryDirectory();
let gateway: RunningGateway = await startGateway(directory);
const key = await createKey(directory, 'bench');
const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'bench'], z.object({ token: z.string() }));

/** Sends as fast as it is answered until the gateway is gone or `stop` is called. */
function load(): () => Promise<void> {
  const script = new URL('support/otlp-sender.ts', import.meta.url);
  const sender = fork(script, [`${gateway.url}/v1/traces`, token, '600'], { stdio: 'ignore' });
  const exited = once(sender, 'exit');
  return async () => {
    sender.kill('SIGKILL');
    await exited;
  };
}

/** Asked again and again, as a client would; the time until the first answer, and how many were refused before it. */
async function untilAnswered(bearer: string, since: number): Promise<{ ms: number; refused: number }> {
  for (let refused = 0; ; refused += 1) {
    const { isError } = await callTool(gateway.url, bearer, 'query_otel', { sql });
    if (!isError) return { ms: performance.now() - since, refused };
    await sleep(20);
  }
}

try {
  const rows: object[] = [];
  for (const victim of ['engine', 'gateway'] as const) {
    const times: number[] = [];
    let refusals = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const stop = load();
      await sleep(loadMs);
      const [engine] = await findProcesses('engine/main', directory);
      if (victim === 'engine' && engine !== undefined) process.kill(engine, 'SIGKILL');
      let since = performance.now();
      if (victim === 'gateway') {
        await gateway.kill();
        since = performance.now();
        gateway = await startGateway(directory);
      }
      const bearer = await exchange(gateway.url, key);
      const { ms, refused } = await untilAnswered(bearer, since);
      times.push(ms);
      refusals += refused;
      await stop();
    }
    rows.push({
      'kill -9 of': victim,
      kills,
      'until a query is answered, ms (median)': round(median(times)),
      'slowest, ms': round(Math.max(...times)),
      'queries refused meanwhile': refusals,
    });
  }
  console.table(rows);
} finally {
  await gateway.stop();
  await removeDirectory(directory);
}
