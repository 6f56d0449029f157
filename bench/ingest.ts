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
} from '../test/support/gateway.ts';
import { oneSpan } from './support/otlp-body.ts';
import { cpuSeconds, findProcesses, residentMb } from './support/process.ts';

/*
 * OTLP ingest on the whole path: sender (a process of its own, gzip protobuf, 512 spans a request, 12 + 8 attributes) → gateway
 * → log → DuckDB, all on this machine. While it runs, a marked span is sent every two seconds and asked for with query_otel.
 * Usage: node bench/ingest.ts [seconds, 60] [spans a second, 0 = as many as are answered] [connections, 8]
 */

/** Below the rate that one key may ask at. */
const pollMs = 250;
const [seconds = '60', rate = '0', connections = '8'] = process.argv.slice(2);

const report = z.object({
  spans: z.number(),
  seconds: z.number(),
  latencies: z.array(z.number()),
  statuses: z.record(z.string(), z.number()),
  cpu: z.number(),
});
const shown = z.object({ token: z.string() });
const answer = z.object({ rows: z.array(z.array(z.unknown())) });

const directory = await temporaryDirectory();
const gateway = await startGateway(directory);
try {
  const key = await createKey(directory, 'bench');
  const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'bench'], shown);
  const bearer = await exchange(gateway.url, key);
  const count = async (where: string): Promise<number> => {
    const called = await callTool(gateway.url, bearer, 'query_otel', {
      sql: `SELECT count(*) FROM otel.spans WHERE ${where}`,
    });
    if (called.isError) throw new Error(called.raw);
    return Number(answer.parse(called.structured).rows[0]?.[0]);
  };
  const post = (body: Buffer) =>
    fetch(`${gateway.url}/v1/traces`, {
      method: 'POST',
      body: Uint8Array.from(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf' },
    });
  await post(oneSpan('warm up', Date.now()));
  while ((await count("name = 'warm up'")) === 0) await sleep(pollMs);

  const [engine = 0] = await findProcesses('engine/main', directory);
  const gatewayPid = gateway.process.pid ?? 0;
  const before = { gateway: await cpuSeconds(gatewayPid), engine: await cpuSeconds(engine) };
  const sender = fork(
    new URL('support/otlp-sender.ts', import.meta.url),
    [`${gateway.url}/v1/traces`, token, seconds, rate, connections],
    { stdio: 'inherit' },
  );
  const reported = once(sender, 'message');
  let done = false;
  const queryable = (async () => {
    const waits: number[] = [];
    for (let turn = 0; !done; turn += 1) {
      const name = `marker ${turn}`;
      if (!(await post(oneSpan(name, Date.now()))).ok) throw new Error('a marker was refused');
      const answered = performance.now();
      while ((await count(`name = '${name}'`)) === 0) await sleep(pollMs);
      waits.push(performance.now() - answered);
      await sleep(2000);
    }
    return waits;
  })();
  const [message] = await reported;
  const sent = report.parse(message);
  const lastAnswer = performance.now();
  while ((await count("name <> 'warm up' AND name NOT LIKE 'marker%'")) < sent.spans) await sleep(pollMs);
  const drained = performance.now() - lastAnswer;
  done = true;
  const waits = (await queryable).sort((a, b) => a - b);
  const latencies = sent.latencies.sort((a, b) => a - b);
  const of = (sorted: readonly number[], fraction: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0);
  const perSpan = (cpu: number) => Number(((cpu * 1e6) / sent.spans).toFixed(1));
  const found = await count("name <> 'warm up' AND name NOT LIKE 'marker%'");
  console.log(
    JSON.stringify(
      {
        spans: sent.spans,
        spansPerSecond: Math.round(sent.spans / sent.seconds),
        spansPerSecondUntilQueryable: Math.round(sent.spans / (sent.seconds + drained / 1000)),
        lostOrDoubled: found - sent.spans,
        statuses: sent.statuses,
        answerMs: { p50: of(latencies, 0.5), p99: of(latencies, 0.99), slowest: of(latencies, 1) },
        queryableMs: { p50: of(waits, 0.5), slowest: of(waits, 1), lastAfterEnd: Math.round(drained) },
        cpuMicrosPerSpan: {
          sender: perSpan(sent.cpu),
          gateway: perSpan((await cpuSeconds(gatewayPid)) - before.gateway),
          engine: perSpan((await cpuSeconds(engine)) - before.engine),
        },
        residentMb: { gateway: await residentMb(gatewayPid), engine: await residentMb(engine) },
      },
      undefined,
      2,
    ),
  );
} finally {
  await gateway.stop();
  await removeDirectory(directory);
}
