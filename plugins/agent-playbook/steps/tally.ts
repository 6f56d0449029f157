import { lengthOf, type Finding, type Row, type Windows } from '../notebook.ts';
import type { TimeRange } from '../question/time-range.ts';
import type { Scene, Step } from '../scene.ts';
import { leastMissing, leastPause } from './silence.ts';
import { between, cited, code, eitherWindow, isBefore, milliseconds, moment, ownWork, within } from '../sql.ts';
import { twoProportionZ, type Proportion } from '../statistics.ts';

/** Spans of one kind: how many, how many failed, how long they took. Nanoseconds. */
export interface Tallied {
  /** What they are counted by, in the order asked for. */
  readonly names: readonly string[];
  readonly calls: number;
  readonly failed: number;
  readonly median: number;
  readonly p95: number;
  readonly first: Date | undefined;
  readonly last: Date | undefined;
  /** Different values of `distinct`, and those of them that met a failure. */
  readonly values: { readonly all: number; readonly failed: number };
}

export interface Tally extends Finding {
  readonly rows: readonly Tallied[];
}

interface TallyInquiry {
  readonly question: string;
  readonly range: TimeRange;
  /** SQL expressions that spans are counted by; none: all of them together. */
  readonly by: readonly string[];
  /** SQL conditions. */
  readonly where?: readonly string[];
  /** What counts as a failure: an error unless told. */
  readonly failed?: string;
  readonly order?: 'calls' | 'failures' | 'slowness';
  /** A FROM item beside the spans. */
  readonly join?: string;
  /** An SQL expression. */
  readonly distinct?: string;
}

/** Kinds of spans that an answer has at most. */
export const mostTallied = 50;

const orders = { calls: 'count(*)', failures: 'failed', slowness: 'p95_nano' } as const;

export type Desk = Pick<Scene, 'notebook' | 'write'>;

/** Counts the spans of one stretch of time. */
export async function* tally({ notebook, write }: Desk, inquiry: TallyInquiry): Step<Tally> {
  const {
    question,
    range,
    by,
    where = [ownWork('s.kind')],
    failed = "s.status_code = 'ERROR'",
    order = 'calls',
  } = inquiry;
  const named = by.map((expression, index) => `${expression} AS name_${index}, `).join('');
  const { join, distinct } = inquiry;
  const different =
    distinct === undefined
      ? ''
      : `, count(DISTINCT ${distinct}) AS different, count(DISTINCT CASE WHEN ${failed} THEN ${distinct} END) AS different_failed`;
  const conditions = [within(write, 's.time', range).slice(1, -1), ...where].join(' AND ');
  const grouped = by.length === 0 ? '' : `\nGROUP BY ${by.join(', ')}`;
  const sql = `SELECT ${named}count(*) AS calls, ${write.countIf(failed)} AS failed, ${write.quantile('s.duration_nano', 0.5)} AS median_nano, ${write.quantile('s.duration_nano', 0.95)} AS p95_nano, min(s.time) AS first_seen, max(s.time) AS last_seen${different}
FROM otel.spans s${join === undefined ? '' : ` CROSS JOIN ${join}`}
WHERE ${conditions}${grouped}
ORDER BY ${orders[order]} DESC${by.map((_, index) => `, name_${index}`).join('')}
LIMIT ${mostTallied}`;
  const read = (row: Row): Tallied => ({
    names: by.map((_, index) => row.text(`name_${index}`)),
    calls: row.number('calls'),
    failed: row.number('failed'),
    median: row.number('median_nano'),
    p95: row.number('p95_nano'),
    first: row.time('first_seen'),
    last: row.time('last_seen'),
    values: { all: row.number('different'), failed: row.number('different_failed') },
  });
  const { rows, ...finding } = yield* notebook.ask({
    question,
    sql,
    window: range,
    judge(found) {
      const lines = found
        .map(read)
        .filter(({ calls }) => calls > 0)
        .slice(0, 5)
        .map(describe);
      return lines.length === 0 ? `Nothing, from ${moment(range.start)} on.` : `${lines.join('; ')}.`;
    },
  });
  return { ...finding, rows: rows.map(read).filter(({ calls }) => calls > 0) };
}

/** `` `payment` `Charge`: 13 of 117 failed, 61 ms at the median and 112 ms at p95 `` */
export function describe({ names, ...counted }: Tallied): string {
  const what = names.filter((name) => name !== '').map((name) => code(name, 80));
  return `${what.length === 0 ? '' : `${what.join(' ')}: `}${figures(counted)}`;
}

export function figures({ calls, failed, median, p95 }: Pick<Tallied, 'calls' | 'failed' | 'median' | 'p95'>): string {
  return `${failed} of ${calls} failed, ${milliseconds(median)} at the median and ${milliseconds(p95)} at p95`;
}

export interface Fared {
  /** By the lines that it logs, for want of spans. */
  readonly isLogs?: true;
  readonly isWell: boolean;
  readonly isDown: boolean;
  /** Nothing has come from it since, though at its rate of before much should have. */
  readonly endedAt: Date | undefined;
  readonly text: string;
}

function endOf({ last }: Pick<Tallied, 'last'>, now: TimeRange, rateBefore: number): Date | undefined {
  const pause = last === undefined ? 0 : now.end.getTime() - last.getTime();
  return pause >= leastPause && pause * rateBefore >= leastMissing ? last : undefined;
}

/** An attribute's value, and the column of such attributes. */
export interface Having {
  readonly column: 's.attributes' | 's.resource_attributes';
  readonly value: string;
}

/** How one service fares, or those of its requests that have a value, now and before. */
export async function* fares(desk: Desk, windows: Windows, service: string, having?: Having): Step<Fared | undefined> {
  const { write } = desk;
  const [whose, valued] =
    having === undefined
      ? [code(service, 60), []]
      : [
          `${code(service, 60)} with ${code(having.value, 80)}`,
          [`lower(a.value) = ${write.literal(having.value.toLowerCase())}`],
        ];
  const counts = (range: TimeRange) =>
    tally(desk, {
      question: `How does ${whose} fare?`,
      range,
      by: having === undefined ? [] : ['a.key'],
      where: [`s.service_name = ${write.literal(service)}`, ownWork('s.kind'), ...valued],
      ...(having && { join: write.unnestMap(having.column, 'a') }),
    });
  const now = yield* counts(windows.now);
  const before = windows.before && (yield* counts(windows.before));
  const [a] = now.rows;
  if (a === undefined) return having === undefined ? yield* logged(desk, windows, service) : undefined;
  const b = before?.rows.find(({ names }) => names[0] === a.names[0]);
  const which = having === undefined ? '' : `With ${code(`${a.names[0]}=${having.value}`, 120)}: `;
  const ids = cited(now.evidenceId, ...(before ? [before.evidenceId] : []));
  const isSlower = b !== undefined && a.p95 >= 1.5 * b.p95 && a.p95 - b.p95 >= 5e6;
  const fails = isMore({ hits: a.failed, total: a.calls }, b && { hits: b.failed, total: b.calls });
  return {
    isWell: !fails && !isSlower,
    isDown: a.failed >= 0.9 * a.calls,
    endedAt: b && windows.before && endOf(a, windows.now, b.calls / lengthOf(windows.before)),
    text: `${which}${figures(a)} ${between(windows.now)}${b === undefined ? '' : `; before: ${figures(b)}`}.${ids}`,
  };
}

function isMore(now: Proportion, before: Proportion | undefined): boolean {
  return before === undefined ? now.hits / now.total >= 0.05 : twoProportionZ(now, before) >= 3 && now.hits >= 5;
}

/** The same of one that sends no spans, by its lines; undefined where it logs nothing either. */
async function* logged({ notebook, write }: Desk, { now, before }: Windows, service: string): Step<Fared | undefined> {
  const windows: Windows = { now, before, references: [] };
  const [during, prior] = [within(write, 'time', now), isBefore(write, 'time', windows)];
  const bad = (side: string): string => write.countIf(`${side} AND severity_number >= 13`);
  const sql = `SELECT ${write.countIf(during)} AS lines, ${bad(during)} AS bad, ${write.countIf(prior)} AS lines_before, ${bad(prior)} AS bad_before, max(severity_number) AS most, max(time) AS last_seen
FROM otel.logs
WHERE ${eitherWindow(write, 'time', windows)} AND service_name = ${write.literal(service)}`;
  const read = (row: Row | undefined) => ({
    now: { hits: row?.number('bad') ?? 0, total: row?.number('lines') ?? 0 },
    before: { hits: row?.number('bad_before') ?? 0, total: row?.number('lines_before') ?? 0 },
  });
  const shareOf = ({ hits, total }: Proportion): string => `${hits} of ${total}`;
  const part = (counted: Proportion): string => `${shareOf(counted)} lines are warnings or errors`;
  const { rows, evidenceId } = yield* notebook.ask({
    question: `How do the logs of ${code(service, 60)} fare?`,
    sql,
    window: now,
    judge: (found) => `${part(read(found[0]).now)}; before: ${shareOf(read(found[0]).before)}.`,
  });
  const counted = read(rows[0]);
  if (counted.now.total + counted.before.total === 0) return undefined;
  const past = before && counted.before.total > 0 ? counted.before : undefined;
  const last = rows[0]?.time('last_seen');
  const told = rows[0]?.number('most') === 0 ? ' None of them says how severe it is.' : '';
  return {
    isLogs: true,
    isWell: !isMore(counted.now, past),
    isDown: false,
    endedAt: before && past && endOf({ last }, now, past.total / lengthOf(before)),
    text: `It sends no spans; ${part(counted.now)} ${between(now)}${past ? `; before: ${shareOf(past)}` : ''}.${told}${cited(evidenceId)}`,
  };
}
