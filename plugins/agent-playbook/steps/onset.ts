import { code, moment, ownWork, partWidth, within } from '../sql.ts';
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
      if (!at)
        return { observation: `The share of ${what}${whose} does not rise at any one point.`, verdict: 'neutral' };
      return { observation: `The share of ${what}${whose} rises at about ${moment(at)}.`, verdict: 'supports' };
    },
  });
  return { ...finding, ...riseOf(answer, 'spans') };
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
