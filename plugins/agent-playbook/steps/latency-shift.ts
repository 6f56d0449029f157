import { code, milliseconds, percent, onlyFocus, ownWork, usualWindow, within } from '../sql.ts';
import { listed, usual, type Finding, type Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { rate, twoProportionZ, binomialTail, type Proportion } from '../statistics.ts';

/** How long something takes, now against before. Nanoseconds. */
export interface Shift {
  readonly count: number;
  readonly countBefore: number;
  readonly median: number;
  readonly medianBefore: number;
  readonly p95: number;
  readonly p95Before: number;
  /** Share now slower than 95 % of those before. */
  readonly slowShare: number;
  /** Stands out by size and by chance. */
  readonly worse: boolean;
}

/**
 * By construction one in twenty lies above the 95th percentile of before, so the share that lies there now is a proportion
 * that can be tested, whatever the distribution looks like. A few calls, or a time before that was not well itself, are
 * judged by how unlikely it is that so many lie above the 95th or the 75th; then the size has to be beyond doubt. Reads
 * count, slow (beyond p95_before), slower (beyond p75_before), far (see `isFar`), count_before, median_nano, p95_nano and the
 * same of before.
 */
export function readShift(row: Row): Shift {
  const slow = { hits: row.number('slow'), total: row.number('count') };
  const shift = shiftOf(row, slow, row.number('count_before'));
  const { median, medianBefore, worse } = shift;
  const unlikely = Math.min(
    binomialTail(slow.hits, slow.total, 0.05),
    binomialTail(row.number('slower'), slow.total, 0.25),
  );
  const few = unlikely <= 1e-4 && median >= 5 * medianBefore && median - medianBefore >= 20e6;
  return { ...shift, worse: worse || few };
}

/**
 * As SQL: whether a duration lies far beyond the longest of before, which takes a few calls to be beyond chance even where long
 * ones are many times as long as usual ones.
 */
export function isFar(nano: string, longestBefore: string): string {
  return `${nano} > 3 * ${longestBefore} + 20000000`;
}

/** So many, of so many calls at most, next to so many before. */
const [fewestFar, leastFar, fewestBefore] = [3, 0.1, 20];

/** With `worse` by the 95th percentile, which takes many calls, or by a few that take far longer than any before. */
function shiftOf(row: Row, slow: Proportion, countBefore: number): Shift {
  const z = twoProportionZ(slow, { hits: countBefore * 0.05, total: countBefore });
  const [median, medianBefore] = [row.number('median_nano'), row.number('median_before_nano')];
  const [p95, p95Before] = [row.number('p95_nano'), row.number('p95_before_nano')];
  // A real slowdown is large beside what was usual and long enough for someone to notice.
  const larger = (now: number, before: number) => now >= 1.4 * before && now - before >= 2e6;
  const many = z >= 5 && rate(slow) >= 0.12 && (larger(median, medianBefore) || larger(p95, p95Before));
  const far = row.number('far');
  const worse = many || (far >= fewestFar && far >= leastFar * slow.total && countBefore >= fewestBefore);
  return { count: slow.total, countBefore, median, medianBefore, p95, p95Before, slowShare: rate(slow), worse };
}

export interface LatencyChange extends Shift {
  readonly service: string;
  readonly operation: string;
}

export interface LatencyShift extends Finding {
  readonly changes: readonly LatencyChange[];
}

/** Fewer spans than these say nothing about a 95th percentile. */
const fewest = 20;

/** Which operations are slower than before. */
export async function* latencyShift({ notebook, write, windows, focus }: Scene): Step<LatencyShift | undefined> {
  if (usual(windows).length === 0) return undefined;
  const slow = write.countIf('s.duration_nano > b.p95_before');
  const sql = `WITH b AS (
  SELECT service_name, name, count(*) AS spans_before, ${write.quantile('duration_nano', 0.5)} AS median_before, ${write.quantile('duration_nano', 0.95)} AS p95_before, max(duration_nano) AS longest_before
  FROM otel.spans
  WHERE ${usualWindow(write, 'time', windows)} AND ${ownWork()}${onlyFocus(write, focus)}
  GROUP BY service_name, name
)
SELECT s.service_name AS service_name, s.name AS name, count(*) AS spans, ${slow} AS slow_spans, ${write.countIf(isFar('s.duration_nano', 'b.longest_before'))} AS far,
  ${write.quantile('s.duration_nano', 0.5)} AS median_nano, ${write.quantile('s.duration_nano', 0.95)} AS p95_nano,
  min(b.spans_before) AS spans_before, min(b.median_before) AS median_before_nano, min(b.p95_before) AS p95_before_nano
FROM otel.spans s JOIN b ON b.service_name = s.service_name AND b.name = s.name
WHERE ${within(write, 's.time', windows.now).slice(1, -1)} AND ${ownWork('s.kind')}
GROUP BY s.service_name, s.name
HAVING count(*) >= ${fewest} AND min(b.spans_before) >= ${fewest}
ORDER BY ${slow} - 0.05 * count(*) DESC, s.service_name, s.name
LIMIT ${mostOperations}`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: 'Which operations are slower than before?',
    sql,
    window: windows.now,
    judge(rows) {
      const worse = rows.map(readChange).filter((change) => change.worse);
      return listed(worse.slice(0, 5).map(describe), 'No operation is slower than before.');
    },
  });
  return { ...finding, changes: answer.map(readChange) };
}

const mostOperations = 50;
/** Calls of one operation, now or before. */
const lightTraffic = 300;

/** Calls of the operation that has most of them, where no operation has many: rare faults show at none of them. */
export function lightestTraffic(latency: LatencyShift | undefined): LatencyChange | undefined {
  if (latency === undefined || latency.changes.length === mostOperations) return undefined;
  const [busiest] = latency.changes.toSorted((a, b) => callsOf(b) - callsOf(a));
  return busiest !== undefined && callsOf(busiest) < lightTraffic ? busiest : undefined;
}

/** On the side that has fewer. */
export function callsOf({ count, countBefore }: Shift): number {
  return Math.min(count, countBefore);
}

export function readChange(row: Row): LatencyChange {
  const slow = { hits: row.number('slow_spans'), total: row.number('spans') };
  const shift = shiftOf(row, slow, row.number('spans_before'));
  return { ...shift, service: row.text('service_name'), operation: row.text('name') };
}

export function describe(change: LatencyChange): string {
  const { service, operation, median, medianBefore, p95, p95Before, slowShare } = change;
  return `${code(service, 60)} ${code(operation, 80)} takes ${milliseconds(median)} at the median (${milliseconds(medianBefore)} before) and ${milliseconds(p95)} at p95 (${milliseconds(p95Before)} before); ${percent(slowShare)} are slower than p95 was`;
}
