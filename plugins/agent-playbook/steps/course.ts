import { courseColumns, spreadColumns } from '../../../src/contract/storage/index.ts';
import type { Clues } from '../clues.ts';
import { lengthOf, usual, type Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import { reaches, code, eitherWindow, isBefore, moment, partWidth, percent, within } from '../sql.ts';

/** An operation of a service, by which the trouble is felt. */
interface Felt {
  readonly service: string;
  readonly operation: string;
  readonly failing: boolean;
  /** Requests a second. */
  readonly rate: number;
}

/** How requests fared over the time that was looked at, for pictures of it; and how bad each part of it was. */
export async function* course(scene: Scene, clues: Clues): Step<readonly number[] | undefined> {
  const felt = whereFelt(scene, clues);
  if (felt === undefined || usual(scene.windows).length === 0) return undefined;
  const { notebook, write, windows } = scene;
  const range = { start: windows.before?.start ?? windows.now.start, end: windows.now.end };
  const own = `service_name = ${write.literal(felt.service)} AND name = ${write.literal(felt.operation)}`;
  const where = `${code(felt.service, 60)} ${code(felt.operation, 80)}`;
  const bucket = write.bucket('time', widthFor(range, felt.rate));
  const [time, requests, failed, median, p95, service, name] = courseColumns;
  const { rows } = yield* notebook.ask({
    question: `How did ${where} fare over time?`,
    sql: `SELECT ${bucket} AS ${time}, count(*) AS ${requests}, ${write.countIf("status_code = 'ERROR'")} AS ${failed}, ${write.quantile('duration_nano', 0.5)} AS ${median}, ${write.quantile('duration_nano', 0.95)} AS ${p95}, min(service_name) AS ${service}, min(name) AS ${name}
FROM otel.spans
WHERE ${within(write, 'time', range).slice(1, -1)} AND ${own}
GROUP BY ${bucket}
ORDER BY ${bucket}
LIMIT 50`,
    window: range,
    judge(answer) {
      const worst = answer
        .filter((row) => row.number(requests) >= fewest)
        .toSorted((a, b) => badness(b, felt) - badness(a, felt))[0];
      const at = worst?.time(time);
      if (worst === undefined || at === undefined) return 'It had too few requests.';
      const bad = felt.failing
        ? `${percent(badness(worst, felt))} of ${worst.number(requests)} failed`
        : `p95 was ${Math.round(badness(worst, felt) / 1e6)} ms`;
      return `It was worst from ${moment(at)} on: ${bad}.`;
    },
  });
  yield* spread(scene, own, where);
  return rows.filter((row) => row.number(requests) >= fewest).map((row) => badness(row, felt));
}

/** Upper ends in milliseconds; what takes longer is in the last. */
const bounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000] as const;

/** How many requests took how long, now and before. */
async function* spread({ notebook, write, windows }: Scene, own: string, where: string): Step<void> {
  const [upTo, now, before] = spreadColumns;
  const last = bounds.at(-1) ?? 0;
  const part = `CASE ${bounds.map((bound) => `WHEN duration_nano <= ${bound * 1e6} THEN ${bound}`).join(' ')} ELSE ${last * 2} END`;
  yield* notebook.ask({
    question: `How long do requests of ${where} take, now and before?`,
    sql: `SELECT ${part} AS ${upTo}, ${write.countIf(within(write, 'time', windows.now))} AS ${now}, ${write.countIf(isBefore(write, 'time', windows))} AS ${before}
FROM otel.spans
WHERE ${eitherWindow(write, 'time', windows)} AND ${own}
GROUP BY ${part}
ORDER BY ${part}
LIMIT 50`,
    window: windows.now,
    judge(rows) {
      const most = (side: string): string => {
        const found = rows.toSorted((a, b) => b.number(side) - a.number(side))[0];
        return found === undefined || found.number(side) === 0 ? 'none' : `most within ${found.number(upTo)} ms`;
      };
      return `Now ${most(now)}; before ${most(before)}.`;
    },
  });
}

/** Of the operations that are worse, one of a service that the incident names; else the one that calls the others. */
function whereFelt({ focus, windows }: Scene, { errors, latency, gaps }: Clues): Felt | undefined {
  const seconds = lengthOf(windows.now) / 1_000;
  const worse: readonly Felt[] = [
    ...errors.changes.flatMap(({ service, operation, now, worse: is }) =>
      is ? [{ service, operation, failing: true, rate: now.total / seconds }] : [],
    ),
    ...(latency?.changes ?? []).flatMap(({ service, operation, count, worse: is }) =>
      is ? [{ service, operation, failing: false, rate: count / seconds }] : [],
    ),
  ];
  const calls = gaps?.calls ?? [];
  const calledBy = ({ service }: Felt): number =>
    worse.filter((other) => other.service !== service && reaches(calls, other.service, service)).length;
  return worse.toSorted(
    (a, b) =>
      Number(focus.services.includes(b.service)) - Number(focus.services.includes(a.service)) ||
      Number(b.failing) - Number(a.failing) ||
      calledBy(a) - calledBy(b),
  )[0];
}

const widths = [10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600];
/** Of fewer requests a share jumps about. */
const enough = 20;
const fewestParts = 8;
/** A part with fewer requests says nothing. */
const fewest = 5;

/** Seconds. */
function widthFor(range: Scene['windows']['now'], rate: number): number {
  const least = partWidth(lengthOf(range));
  const most = Math.max(least, lengthOf(range) / 1_000 / fewestParts);
  const fitting = widths.filter((width) => width >= least && width <= most);
  return fitting.find((width) => width * rate >= enough) ?? fitting.at(-1) ?? least;
}

function badness(row: Row, { failing }: Felt): number {
  const [, requests, failed, , p95] = courseColumns;
  return failing ? row.number(failed) / Math.max(1, row.number(requests)) : row.number(p95);
}
