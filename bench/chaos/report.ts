import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../test/support/gateway.ts';
import type { Outages } from './outages.ts';
import type { Stage } from './stage.ts';
import { recoverySeconds } from './speed.ts';
import type { Run, Verdict } from './verdicts/verdict.ts';

const shown = 12;

export interface Report {
  readonly seed: number;
  readonly engine: string;
  readonly seconds: number;
  readonly kept: boolean;
  readonly faults: readonly object[];
  readonly traffic: readonly object[];
  /** What the replica that is never ended took of memory, and all of connections. */
  readonly courses: readonly object[];
  readonly verdicts: readonly Verdict[];
  /** What was said to requests that failed, each once for a kind, with how often. */
  readonly failures: readonly object[];
}

export function reportOf(
  head: Pick<Report, 'seed' | 'engine' | 'seconds'>,
  run: Run,
  begun: ReadonlyMap<string, number>,
  verdicts: readonly Verdict[],
): Report {
  return {
    ...head,
    kept: verdicts.every(({ evidence }) => evidence.length === 0),
    faults: [...begun].map(([fault, times]) => ({
      fault,
      times,
      'longest, s': longest(run.outages, fault),
      'last failure after it, ms': lastFailure(run, fault),
      'ready after it, ms': readyAfter(run, fault),
    })),
    traffic: run.traffic.tallies(run.outages).map(({ kind, sent, failed, held, unexcused }) => ({
      kind,
      sent,
      failed,
      'sent without an outage': held,
      'failed of those': unexcused.length,
    })),
    courses: coursesOf(run),
    verdicts,
    failures: failuresOf(run),
  };
}

function coursesOf({ gauges, speedJudged }: Run): readonly object[] {
  const { live, resident, storageConnections, telemetryConnections } = gauges;
  const courses = {
    'live memory, MB': live,
    'resident memory, MB': resident,
    'storage connections': storageConnections,
    'telemetry connections': telemetryConnections,
  };
  return Object.entries(courses).map(([of, { baseline, end, highest, slope, minutes }]) => ({
    of,
    'first third': Number(baseline.toFixed(1)),
    'last third': Number(end.toFixed(1)),
    highest: Number(highest.toFixed(1)),
    'a minute': Number(slope.toFixed(2)),
    'over, min': Number(minutes.toFixed(1)),
    judged: speedJudged && of !== 'resident memory, MB' ? 'yes' : 'no',
  }));
}

/** Without what differs from one to the next. */
function failuresOf({ traffic }: Run): readonly object[] {
  const times = new Map<string, number>();
  for (const { kind, failure = '' } of traffic.failed) {
    const said = `${kind}: ${failure.replaceAll(/[0-9a-f-]{20,}/g, '…')}`;
    times.set(said, (times.get(said) ?? 0) + 1);
  }
  return [...times].map(([said, count]) => ({ said, count }));
}

export function printReport({ seed, engine, seconds, faults, traffic, courses, verdicts, kept }: Report): void {
  console.log(`${seconds} s of faults on ${engine}, seed ${seed}`);
  console.table(faults);
  console.table(traffic);
  console.table(courses);
  for (const { promise, looked, evidence } of verdicts) {
    console.log(`${evidence.length === 0 ? 'kept  ' : 'BROKEN'}  ${promise} (${looked})`);
    for (const each of evidence.slice(0, shown)) console.log(`          ${each}`);
    if (evidence.length > shown) console.log(`          and ${evidence.length - shown} more`);
  }
  console.log(`Documented for requests and for readiness: ${recoverySeconds * 1_000} ms after the database is back.`);
  console.log(kept ? 'All promises were kept.' : 'Promises were broken.');
}

/** Answers the directory. */
export async function keepLogs({ replicas }: Stage): Promise<string> {
  const directory = join(root, 'artifacts', 'chaos');
  await mkdir(directory, { recursive: true });
  for (const { number, output } of replicas) await writeFile(join(directory, `replica-${number}.log`), output);
  return directory;
}

/** The slowest of all gateways once the database is back; for the faults of a single gateway it is not promised. */
function readyAfter({ recoveries }: Run, fault: string): number | string {
  const times = recoveries.get(fault);
  return times === undefined ? '-' : Math.round(Math.max(...times));
}

function longest(outages: Outages, fault: string): number {
  const lengths = outages.all.filter(({ what }) => what === fault).map(({ from, to }) => to - from);
  return Number((Math.max(0, ...lengths) / 1_000).toFixed(1));
}

/** Of requests that were begun when it was over: how long after it. */
function lastFailure({ outages, traffic }: Run, fault: string): number {
  const delays = outages.all
    .filter(({ what }) => what === fault)
    .flatMap(({ of, to }) =>
      traffic.failed
        .filter(
          ({ replica, from }) => (of === 'all' || of === replica) && from >= to && from <= to + recoverySeconds * 1_000,
        )
        .filter(({ from }) => !outages.all.some((other) => other.from > to && other.from <= from))
        .map(({ from }) => from - to),
    );
  return Math.round(Math.max(0, ...delays));
}
