import type { Outages } from '../outages.ts';
import { busyRecoverySeconds, recoverySeconds } from '../speed.ts';
import type { Run, Verdict } from './verdict.ts';

/** No request fails at a healthy replica, and each replica is soon healthy again. */
export function requestVerdicts({
  traffic,
  outages,
  recoveries,
  speedJudged,
  broken,
  ledger,
}: Run): readonly Verdict[] {
  const tallies = traffic.tallies(outages);
  const mostSeconds = speedJudged ? recoverySeconds : busyRecoverySeconds;
  const held = tallies.reduce((sum, each) => sum + each.held, 0);
  const slow = [...recoveries].flatMap(([fault, times]) =>
    times
      .filter((took) => took > mostSeconds * 1_000)
      .map((took) => `${fault}: ready ${took.toFixed(0)} ms after it was over`),
  );
  return [
    {
      promise: `requests: none fails but during an outage and ${recoverySeconds} s after it`,
      looked: `${traffic.sent} sent, ${traffic.failed.length} failed then; ${held} at another time`,
      evidence: tallies.flatMap(({ kind, unexcused }) =>
        unexcused.map(
          ({ from, to, replica, failure }) =>
            `${kind} at replica ${replica ?? '?'}, ${from.toFixed(0)} to ${to.toFixed(0)} ms, ${around(outages, from)}: ${failure ?? ''}`,
        ),
      ),
    },
    {
      promise: `replicas: ready again ${mostSeconds} s after an outage, ended by SIGTERM in order`,
      looked: `slowest ${Math.round(Math.max(0, ...[...recoveries.values()].flat()))} ms`,
      evidence: [...slow, ...broken],
    },
    {
      promise: 'answers: a revoked key is refused at once everywhere, nothing read is older than what was read before',
      looked: `${[...ledger.revocations.entries.values()].filter(({ acknowledged }) => acknowledged).length} revocations`,
      evidence: ledger.broken,
    },
  ];
}

/** Which outage was the last to begin. */
function around(outages: Outages, at: number): string {
  const last = outages.all.findLast(({ from }) => from <= at);
  return last === undefined
    ? 'before any outage'
    : `after ${last.what} of ${last.of === 'all' ? 'all' : `replica ${last.of}`} (${last.from.toFixed(0)} to ${last.to.toFixed(0)} ms)`;
}
