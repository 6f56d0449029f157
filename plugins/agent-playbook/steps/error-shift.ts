import { code, percent, eitherWindow, isBefore, onlyFocus, ownWork, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { fisherTail, rate, twoProportionZ, type Proportion } from '../statistics.ts';

export interface ErrorChange {
  readonly service: string;
  readonly operation: string;
  readonly now: Proportion;
  readonly before: Proportion;
  /** Failures beyond what the rate of before would have made. */
  readonly excess: number;
  /** Whether it stands out, by size and by chance. */
  readonly worse: boolean;
}

export interface ErrorShift extends Finding {
  readonly changes: readonly ErrorChange[];
}

/** Which operations fail more than before. */
export async function* errorShift({ notebook, write, windows, focus }: Scene): Step<ErrorShift> {
  const now = within(write, 'time', windows.now);
  const before = isBefore(write, 'time', windows);
  const failed = "status_code = 'ERROR'";
  const [spans, errors] = [write.countIf(now), write.countIf(`${now} AND ${failed}`)];
  const [spansBefore, errorsBefore] = [write.countIf(before), write.countIf(`${before} AND ${failed}`)];
  const sql = `SELECT service_name, name, ${spans} AS spans, ${errors} AS errors, ${spansBefore} AS spans_before, ${errorsBefore} AS errors_before,
  ${errors} - ${spans} * COALESCE(${write.ratio(errorsBefore, spansBefore)}, 0) AS excess_errors
FROM otel.spans
WHERE ${eitherWindow(write, 'time', windows)} AND ${ownWork()}${onlyFocus(write, focus)}
GROUP BY service_name, name
HAVING ${errors} > 0
ORDER BY excess_errors DESC, service_name, name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: 'Which operations fail more than before?',
    sql,
    window: windows.now,
    judge(rows) {
      const worse = rows.map(readChange).filter((change) => change.worse);
      const failures = rows.reduce((sum, row) => sum + row.number('errors'), 0);
      const none =
        failures === 0 ? 'No span has failed.' : `${failures} spans failed, at no operation clearly more than before.`;
      return listed(worse.slice(0, 5).map(describe), none);
    },
  });
  return { ...finding, changes: answer.map(readChange) };
}

/** Failures that are judged exactly. */
const few = 200;
const byChance = 0.002;

export function readChange(row: Row): ErrorChange {
  const now = { hits: row.number('errors'), total: row.number('spans') };
  const before = { hits: row.number('errors_before'), total: row.number('spans_before') };
  const z = twoProportionZ(now, before);
  const times = rate(before) === 0 ? Infinity : rate(now) / rate(before);
  // Ten failures of a service that is hardly called are news, and no z tells it.
  const isFew = now.hits + before.hits <= few;
  const unlikely = z >= 3 || (isFew && fisherTail(now, before) <= byChance);
  const higher = rate(now) - rate(before) >= 0.01 && ((z >= 4 && times >= 2) || (unlikely && times >= 4));
  // Without a baseline there is no significance test, so only a clearly abnormal rate counts.
  const significant = before.total === 0 ? rate(now) >= 0.05 : higher;
  return {
    service: row.text('service_name'),
    operation: row.text('name'),
    now,
    before,
    excess: row.number('excess_errors'),
    worse: now.hits >= 5 && significant,
  };
}

export function describe({ service, operation, now, before }: ErrorChange): string {
  const past = before.total === 0 ? 'nothing to compare with' : `${percent(rate(before))} before`;
  return `${code(service, 60)} ${code(operation, 80)} fails ${percent(rate(now))} of ${now.total} (${past})`;
}
