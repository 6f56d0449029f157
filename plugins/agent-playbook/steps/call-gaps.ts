import { code, milliseconds, percent, eitherWindow, inList, isBefore, within, type Calling } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { joined } from '../sample.ts';
import { robustZ } from '../statistics.ts';
import { isFar, readShift, type Shift } from './latency-shift.ts';

/** Calls of one service by another: what the caller waits beyond what the called one says it took. */
export interface CallGap extends Shift {
  readonly caller: string;
  readonly callee: string;
  /** Nanoseconds added over all calls. */
  readonly added: number;
}

export interface CallGaps extends Finding {
  /** Most added time first; only what was added. */
  readonly gaps: readonly CallGap[];
  /** Caller and callee, as far as the rows tell. */
  readonly calls: readonly Calling[];
}

const fewest = 3;

/** How many calls between other services it takes to know what is usual on the way between any two. */
const fewestPeers = 6;
/** Robust deviations from which a call's delay is an outlier among its peers. */
const outlying = 8;

/** Between which services time passes that neither spends: on the network, or in a queue or pool in front of the called one. */
export async function* callGaps(scene: Scene): Step<CallGaps> {
  const { notebook, write, windows, focus } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const only =
    focus.only && focus.services.length > 0
      ? ` AND (${inList(write, 's.service_name', focus.services)} OR ${inList(write, 'p.service_name', focus.services)})`
      : '';
  const added = `count(*) * (${write.quantile('g.gap_nano', 0.5)} - min(b.median_before))`;
  // Of what waits only at times no median tells.
  const addedAtTimes = 'count(*) * (avg(g.gap_nano) - min(b.mean_before))';
  const sql = `WITH g AS (
  SELECT p.service_name AS caller, s.service_name AS callee, s.time AS time, p.duration_nano - s.duration_nano AS gap_nano
  FROM otel.spans s JOIN otel.spans p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
  WHERE ${scope('s.time')} AND ${scope('p.time')}${joined(scene, 's.trace_id')}${joined(scene, 'p.trace_id')} AND s.service_name <> p.service_name AND s.kind <> 'CONSUMER' AND p.kind <> 'PRODUCER'${only}
), b AS (
  SELECT g.caller AS caller, g.callee AS callee, count(*) AS count_before, avg(g.gap_nano) AS mean_before, ${write.quantile('g.gap_nano', 0.5)} AS median_before, ${write.quantile('g.gap_nano', 0.75)} AS p75_before, ${write.quantile('g.gap_nano', 0.95)} AS p95_before, max(g.gap_nano) AS longest_before
  FROM g
  WHERE ${isBefore(write, 'g.time', windows)}
  GROUP BY g.caller, g.callee
)
SELECT g.caller AS caller, g.callee AS callee, count(*) AS count, ${write.countIf('g.gap_nano > b.p95_before')} AS slow, ${write.countIf('g.gap_nano > b.p75_before')} AS slower, ${write.countIf(isFar('g.gap_nano', 'b.longest_before'))} AS far,
  ${write.quantile('g.gap_nano', 0.5)} AS median_nano, ${write.quantile('g.gap_nano', 0.95)} AS p95_nano,
  min(b.count_before) AS count_before, min(b.median_before) AS median_before_nano, min(b.p95_before) AS p95_before_nano, ${added} AS added_nano, ${addedAtTimes} AS added_at_times_nano
FROM g JOIN b ON b.caller = g.caller AND b.callee = g.callee
WHERE ${within(write, 'g.time', windows.now)}
GROUP BY g.caller, g.callee
HAVING count(*) >= ${fewest} AND min(b.count_before) >= ${fewest}
ORDER BY ${addedAtTimes} DESC, g.caller, g.callee
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: 'Between which services does time pass that neither of them spends?',
    sql,
    window: windows.now,
    judge(rows) {
      const worse = read(rows).filter((gap) => gap.worse);
      return listed(worse.slice(0, 5).map(describe), 'No call takes longer on the way than before.');
    },
  });
  const all = read(answer).toSorted((a, b) => b.added - a.added);
  return {
    ...finding,
    gaps: all.filter(({ added: more }) => more > 0),
    calls: all.map(({ caller, callee }) => ({ caller, callee })),
  };
}

function read(rows: readonly Row[]): readonly CallGap[] {
  const shifts = rows.map(readShift);
  const growths = shifts.map(growth);
  return rows.map((row, index): CallGap => {
    const shift = shifts[index] ?? readShift(row);
    const peers = growths.filter((_, other) => other !== index);
    const worse = shift.worse || apart(shift, peers);
    return {
      ...shift,
      worse,
      caller: row.text('caller'),
      callee: row.text('callee'),
      added: worse ? Math.max(row.number('added_nano'), row.number('added_at_times_nano')) : row.number('added_nano'),
    };
  });
}

/**
 * A few calls say nothing beside their own past, but services on one network have each other to be compared with: what
 * takes so much longer while other ways do not is no accident.
 */
function apart(shift: Shift, peers: readonly number[]): boolean {
  const { median, medianBefore, slowShare } = shift;
  const late = median >= 5 * medianBefore && median - medianBefore >= 20e6 && slowShare >= 0.5;
  return late && peers.length >= fewestPeers && robustZ(growth(shift), peers) >= outlying;
}

/** On a logarithmic scale; a millisecond more or less is none. */
function growth({ median, medianBefore }: Shift): number {
  return Math.log((Math.max(0, median) + 1e6) / (Math.max(0, medianBefore) + 1e6));
}

export function describe({ caller, callee, median, medianBefore, slowShare }: CallGap): string {
  return `calls from ${code(caller, 60)} to ${code(callee, 60)} take ${milliseconds(median)} longer than the answer (${milliseconds(medianBefore)} before); ${percent(slowShare)} are later than 95 % were`;
}
