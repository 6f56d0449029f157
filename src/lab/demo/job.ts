import type { Pod } from './shop.ts';
import { Frame } from './trace.ts';
import type { World } from './world.ts';

const ledger = { system: 'postgresql', namespace: 'reports', address: 'pg-reports.shop.svc', port: 5432 } as const;
const text = 'SELECT day, sum(amount) FROM report_lines GROUP BY day';

/** One minute of a job: pieces of many seconds one after another, until the next would not end in time. */
export function runJob(world: World, pod: Pod, { from, to }: { readonly from: number; readonly to: number }): void {
  const { random } = world;
  for (let at = from + random.between(0, 2_000); at < to - 20_000;) {
    const ended = Frame.background(world, pod, 'job daily-report', Math.floor(at * 1000), (frame) => {
      frame.work(random.between(2_000, 6_000));
      frame.query(ledger, { name: 'SELECT report_lines', text, ms: random.between(800, 3_000) });
      frame.log('INFO', `piece ${random.integer(1, 400)} of the daily report is done`);
    });
    at = ended / 1000;
  }
}
