import { code, eitherWindow, isBefore, masked, onlyFocus, within } from '../sql.ts';
import { type Finding, type Row, listed, scaleOf } from '../notebook.ts';
import { rate } from '../statistics.ts';
import { readChange, type ErrorChange } from './error-shift.ts';
import type { Step, Scene } from '../scene.ts';
import { ofKinds } from '../templates/drain.ts';

export interface LogPattern {
  readonly service: string;
  readonly pattern: string;
  readonly example: string;
  readonly count: number;
  readonly before: number;
  readonly first?: Date | undefined;
  /** Not seen before, and more than once or twice now. */
  readonly isNew: boolean;
  readonly worse: boolean;
  /** And not a warning. */
  readonly isError: boolean;
}

export interface LogPatterns extends Finding {
  /** Those that stand out. */
  readonly worse: readonly LogPattern[];
}

/** Warnings and errors that are new or more frequent, their variable parts masked. */
export async function* logPatterns({ notebook, write, windows, focus, templates }: Scene): Step<LogPatterns> {
  const now = write.countIf(within(write, 'l.time', windows.now));
  const before = write.countIf(isBefore(write, 'l.time', windows));
  const scale = scaleOf(windows);
  const sql = `SELECT l.service_name AS service_name, l.pattern AS pattern, max(l.severity_number) AS severity_number, ${now} AS records, ${before} AS records_before, min(l.time) AS first_seen, min(l.line) AS example
FROM (
  SELECT service_name, severity_number, time, substr(body, 1, 240) AS line, ${ofKinds(write, masked(write, 'body', 240), templates)} AS pattern
  FROM otel.logs
  WHERE ${eitherWindow(write, 'time', windows)} AND (severity_number >= 13 OR severity_number = 0)${onlyFocus(write, focus)}
) l
GROUP BY l.service_name, l.pattern
HAVING ${now} > 0
ORDER BY ${now} - ${scale.toFixed(6)} * ${before} DESC, l.service_name, l.pattern
LIMIT 50`;
  const read = (row: Row): LogPattern => readPattern(row, scale);
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: 'Which warnings and errors in the logs are new or more frequent?',
    sql,
    window: windows.now,
    judge(rows) {
      const worse = rows.map(read).filter((pattern) => pattern.worse);
      return listed(worse.slice(0, 5).map(describe), 'No warning or error is new or more frequent.');
    },
  });
  return {
    ...finding,
    worse: answer.map(read).filter((pattern) => pattern.worse),
  };
}

function readPattern(row: Row, scale: number): LogPattern {
  const [count, before] = [row.number('records'), row.number('records_before')];
  const expected = before * scale;
  const isNew = before === 0 && count >= 5;
  // Counts scatter like their square root; five of these beyond twice the usual is no accident.
  const worse = scale > 0 && (isNew || (count >= 2 * expected && count - expected >= 5 * Math.sqrt(expected + 1)));
  return {
    service: row.text('service_name'),
    pattern: row.text('pattern'),
    example: row.text('example'),
    count,
    before,
    first: row.time('first_seen'),
    isNew,
    worse: worse && row.number('severity_number') >= 13,
    isError: row.number('severity_number') >= 17,
  };
}

export function describe({ service, pattern, count, before, isNew }: LogPattern): string {
  return `${code(service, 60)} logs ${code(pattern)} ${count} times (${isNew ? 'new' : `${before} before`})`;
}

function part({ service, now, before }: ErrorChange): string {
  return `${code(service, 60)}: ${now.hits} of ${now.total} lines, ${before.hits} of ${before.total} before`;
}

/** Who does so many times as much fails more often with it, and no worse for that. */
const grown = 1.5;
/** Of all that a service logs, so much tells of trouble whatever else it does. */
const leastBad = 0.1;

/** Without what only came with more work: no greater part of what those services log are warnings and errors. */
export async function* beyondGrowth({ notebook, write, windows, focus }: Scene, found: LogPatterns): Step<LogPatterns> {
  const [now, before] = [within(write, 'time', windows.now), isBefore(write, 'time', windows)];
  const bad = (side: string) => write.countIf(`${side} AND severity_number >= 13`);
  const sql = `SELECT service_name, '' AS name, ${write.countIf(now)} AS spans, ${bad(now)} AS errors, ${write.countIf(before)} AS spans_before, ${bad(before)} AS errors_before, 0 AS excess_errors
FROM otel.logs
WHERE ${eitherWindow(write, 'time', windows)}${onlyFocus(write, focus)}
GROUP BY service_name
ORDER BY ${bad(now)} DESC, service_name
LIMIT 50`;
  const least = grown * scaleOf(windows);
  const borne = (rows: readonly Row[]): readonly ErrorChange[] =>
    rows
      .map(readChange)
      .filter((one) => one.now.total >= least * one.before.total && !one.worse && rate(one.now) < leastBad);
  const { rows } = yield* notebook.ask({
    question: 'Which services log more of everything, and so more warnings and errors too?',
    sql,
    window: windows.now,
    judge: (answer) => listed(borne(answer).slice(0, 5).map(part), 'None do.', 'neutral'),
  });
  const names = new Set(borne(rows).map(({ service }) => service));
  return { ...found, worse: found.worse.filter(({ service }) => !names.has(service)) };
}
