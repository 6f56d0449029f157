import { loadavg } from 'node:os';
import { mustAnswer, startLimitless } from './support/limitless.ts';
import { callBytes, closedLoop, openLoop, quantile, type Load } from './support/raw-load.ts';

/*
 * What a gateway answers when three times as much comes as it can answer. Each round finds the peak by clients that wait for
 * their answers, then offers three times that by clients that do not. Calls of query_otel (`select 1`) by several
 * organizations on the embedded engine, all on this machine.
 * Usage: node bench/overload.ts [seconds a part, 8] [rounds, 5] [organizations, 4]
 */

const [seconds = 8, rounds = 5, organizations = 4] = process.argv.slice(2).map(Number);
const connections = 1_000;
const bars = { goodput: 0.8, refusalMs: 50 };

const rate = ({ good, seconds: took }: Load): number => good.length / took;

interface Row {
  readonly 'peak/s': number;
  readonly 'sent/peak': number;
  readonly 'goodput/peak': number;
  readonly 'good p50 ms': number;
  readonly 'good p99 ms': number;
  readonly refused: number;
  readonly 'refused p50 ms': number;
  readonly 'refused p99 ms': number;
  readonly 'neither 200, 429 nor 503': number;
  readonly 'no connection free': number;
  readonly 'livez after': number;
}

const gateway = await startLimitless(Array.from({ length: organizations }, (_, index) => `organization ${index}`));
try {
  const requests = gateway.tokens.map((token) =>
    callBytes(gateway.url, token, 'query_otel', { sql: 'select 1 as one' }),
  );
  for (const token of gateway.tokens) await mustAnswer(gateway.url, token, 'select 1 as one');
  await closedLoop(gateway.port, organizations * 4, requests, 3);
  const rows: Row[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let peak = 0;
    for (const clients of [16, 32, 64]) {
      peak = Math.max(peak, rate(await closedLoop(gateway.port, clients, requests, seconds / 3)));
    }
    const load = await openLoop(gateway.port, connections, requests, { perSecond: peak * 3, seconds });
    const health = await fetch(`${gateway.url}/livez`);
    const sent = load.good.length + load.refused.length + load.failed;
    rows.push({
      'peak/s': Math.round(peak),
      'sent/peak': Number((sent / load.seconds / peak).toFixed(2)),
      'goodput/peak': Number((rate(load) / peak).toFixed(2)),
      'good p50 ms': Math.round(quantile(load.good, 0.5)),
      'good p99 ms': Math.round(quantile(load.good, 0.99)),
      refused: load.refused.length,
      'refused p50 ms': Math.round(quantile(load.refused, 0.5)),
      'refused p99 ms': Math.round(quantile(load.refused, 0.99)),
      'neither 200, 429 nor 503': load.failed,
      'no connection free': load.unsent,
      'livez after': health.status,
    });
  }
  console.table(rows);
  const median = (of: (row: Row) => number): number => quantile(rows.map(of), 0.5);
  console.log(`Goodput of the peak, median: ${median((row) => row['goodput/peak'])} (bar: at least ${bars.goodput})`);
  console.log(`Refused within, p99, median: ${median((row) => row['refused p99 ms'])} ms (bar: ${bars.refusalMs} ms)`);
  console.log(`Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await gateway.close();
}
