import { code, masked, moment, ownWork, partWidth, within } from '../sql.ts';
import type { TimeRange } from '../question/time-range.ts';
import { type Finding, type Row, lengthOf } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import { changePoint } from '../statistics.ts';

interface OnsetInquiry extends Pick<Scene, 'notebook' | 'write'> {
  readonly range: TimeRange;
  /** Whose; all services when undefined. */
  readonly service?: string | undefined;
  /** What counts as a bad span: failed, or slower than so many nanoseconds. */
  readonly bad: 'failed' | { readonly slowerThan: number };
}

export interface Onset extends Finding {
  /** Start of the first bucket of the worse part; undefined when no change stands out. */
  readonly at: Date | undefined;
  /** How clearly it begins there; 0 where it does not. */
  readonly z: number;
  /** The last moment at which it is known not to have been so. */
  readonly after?: Date | undefined;
  /** The first moment at which it was seen, where it began with a version before that. */
  readonly seen?: Date | undefined;
}

/** Seconds. */
export function bucketWidth(range: TimeRange): number {
  return partWidth(lengthOf(range));
}

/** When it began: the point of a time series at which the share of bad spans rises most. */
export async function* onset({ notebook, write, range, service, bad }: OnsetInquiry): Step<Onset> {
  const condition = bad === 'failed' ? "status_code = 'ERROR'" : `duration_nano > ${Math.round(bad.slowerThan)}`;
  const bucket = write.bucket('time', bucketWidth(range));
  const sql = `SELECT ${bucket} AS bucket, count(*) AS spans, ${write.countIf(condition)} AS bad
FROM otel.spans
WHERE ${within(write, 'time', range).slice(1, -1)} AND ${ownWork()}${service === undefined ? '' : ` AND service_name = ${write.literal(service)}`}
GROUP BY ${bucket}
ORDER BY ${bucket}
LIMIT 50`;
  const what = bad === 'failed' ? 'failures' : 'slow spans';
  const whose = service === undefined ? '' : ` of ${code(service, 60)}`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `When did the ${what}${whose} begin?`,
    sql,
    window: range,
    judge(rows) {
      const { at } = riseOf(rows, 'spans');
      if (!at) return `The share of ${what}${whose} does not rise at any one point.`;
      return { observation: `The share of ${what}${whose} rises at about ${moment(at)}.`, verdict: 'supports' };
    },
  });
  return { ...finding, ...riseOf(answer, 'spans') };
}

interface NewFailure extends Pick<Scene, 'notebook' | 'write'> {
  /** SQL of what a failed span says. */
  readonly failureText: string;
  readonly range: TimeRange;
  readonly service: string;
  readonly operation: string;
  /** What it says, numbers and ids masked. */
  readonly message: string;
}

/** Fewer tell nothing of how often they come. */
const fewestTimes = 3;
/** Failures that always came would leave so many times their usual distance free with a probability of e^-5. */
const distances = 5;
/** That all failures are of the new version speaks for it beside the time. */
const releaseDistances = 10;

/** When a failure with a message of its own came first: more exact than any share. `at` is undefined where it is not new. */
export async function* firstFailure({ notebook, write, failureText, range, ...failure }: NewFailure): Step<Onset> {
  const { service, operation, message } = failure;
  const scope = (column: string) => within(write, column, range).slice(1, -1);
  const sql = `WITH f AS (
  SELECT min(time) AS first_seen, count(*) AS times, CASE WHEN min(service_version) = max(service_version) THEN min(service_version) ELSE '' END AS version
  FROM otel.spans
  WHERE ${scope('time')} AND service_name = ${write.literal(service)} AND status_code = 'ERROR' AND ${masked(write, failureText, 160)} = ${write.literal(message)}
)
SELECT min(f.first_seen) AS first_seen, min(f.times) AS times, max(CASE WHEN s.name = ${write.literal(operation)} AND s.time < f.first_seen THEN s.time END) AS last_without,
  min(f.version) AS version, min(CASE WHEN s.service_version = f.version AND f.version <> '' THEN s.time END) AS released, min(CASE WHEN s.service_version <> f.version THEN s.time END) AS other_version
FROM otel.spans s CROSS JOIN f
WHERE ${scope('s.time')} AND s.service_name = ${write.literal(service)}
LIMIT 1`;
  const find = ([row]: readonly Row[]): Pick<Onset, 'at' | 'z' | 'after' | 'seen'> => {
    const first = row && newSince(row, range);
    if (row === undefined || first === undefined) return { at: undefined, z: 0 };
    const released = releasedBefore(row, first, range);
    if (released !== undefined) return { at: released, z: distances, seen: first };
    return { at: first, z: distances, after: row.time('last_without') };
  };
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `When did ${code(service, 60)} first fail so?`,
    sql,
    window: range,
    judge(rows) {
      const { at, after, seen } = find(rows);
      if (!at) return `Failures that say ${code(message)} are not new.`;
      if (seen) {
        const version = code(rows[0]?.text('version') ?? '', 60);
        return {
          observation: `The first that says ${code(message)} is at ${second(seen)}; all are of ${version}, first seen at ${second(at)}.`,
          verdict: 'supports',
        };
      }
      const last = after ? `; the call before it, at ${second(after)}, did not fail so` : '';
      return { observation: `The first that says ${code(message)} is at ${second(at)}${last}.`, verdict: 'supports' };
    },
  });
  return { ...finding, ...find(answer) };
}

/** The first time of what a row counts, if that is new within the range. */
function newSince(row: Row, range: TimeRange): Date | undefined {
  const [at, times] = [row.time('first_seen'), row.number('times')];
  if (at === undefined || times < fewestTimes) return undefined;
  const [without, rest] = [at.getTime() - range.start.getTime(), range.end.getTime() - at.getTime()];
  return without > (distances * rest) / times ? at : undefined;
}

/** When the version came that alone fails so, if at the rate of the failures the first of them may have been as long in coming. */
function releasedBefore(row: Row, first: Date, range: TimeRange): Date | undefined {
  const [released, other] = [row.time('released'), row.time('other_version')];
  if (released === undefined || other === undefined || other >= released || released > first) return undefined;
  const usual = (range.end.getTime() - first.getTime()) / row.number('times');
  return first.getTime() - released.getTime() <= releaseDistances * usual ? released : undefined;
}

/** When the most frequent new failure began: few do not show among many that always are. */
export async function* newFailures({ notebook, write, range }: Omit<OnsetInquiry, 'bad'>): Step<Onset> {
  const sql = `SELECT service_name, message, min(time) AS first_seen, count(*) AS times
FROM (
  SELECT service_name, time, ${masked(write, 'status_message', 160)} AS message
  FROM otel.spans
  WHERE ${within(write, 'time', range).slice(1, -1)} AND status_code = 'ERROR' AND status_message <> ''
) f
GROUP BY service_name, message
HAVING count(*) >= ${fewestTimes}
ORDER BY count(*) DESC, service_name, message
LIMIT 50`;
  const first = (rows: readonly Row[]) => rows.find((row) => newSince(row, range) !== undefined);
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: 'Which failures are new, and since when?',
    sql,
    window: range,
    judge(rows) {
      const row = first(rows);
      const at = row?.time('first_seen');
      if (row === undefined || at === undefined) return 'No failure says something new.';
      return {
        observation: `${code(row.text('service_name'), 60)} fails with ${code(row.text('message'))} since ${second(at)}, ${row.number('times')} times.`,
        verdict: 'supports',
      };
    },
  });
  const at = first(answer)?.time('first_seen');
  return { ...finding, at, z: at === undefined ? 0 : distances };
}

/** `12:04:31 UTC` */
function second(time: Date): string {
  return `${time.toISOString().slice(11, 19)} UTC`;
}

/** When it began, in words: an interval where it is known. */
export function interval({ after, seen }: Pick<Onset, 'after' | 'seen'>, at: Date): string {
  if (seen !== undefined && moment(seen) !== moment(at)) return `between ${moment(at)} and ${moment(seen)}`;
  if (after === undefined) return `at about ${moment(at)}`;
  return moment(after) === moment(at) ? `at ${moment(at)}` : `between ${moment(after)} and ${moment(at)}`;
}

/** Where the share of bad ones rises most, among rows of a bucket, its total and how many of these are bad. */
export function riseOf(
  rows: readonly Row[],
  total: string,
  options?: Parameters<typeof changePoint>[1],
): Pick<Onset, 'at' | 'z'> {
  const found = changePoint(
    rows.map((row) => ({ hits: row.number('bad'), total: row.number(total) })),
    options,
  );
  return { at: found && rows[found.index]?.time('bucket'), z: found?.z ?? 0 };
}
