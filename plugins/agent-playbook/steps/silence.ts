import { code, eitherWindow, inList, logTemplate, moment, onlyFocus, ownWork, partWidth, within } from '../sql.ts';
import type { TableName } from '../../../src/contract/telemetry/index.ts';
import { listed, lengthOf, usual, type Row } from '../notebook.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';

/** A service that worked steadily and sends nothing any more. */
export interface Silent {
  readonly service: string;
  readonly since: Date;
  /** Who still calls it or sends to it; undefined where nobody does. */
  readonly caller: { readonly service: string; readonly operation: string } | undefined;
  /** Its work begins there, as that of a job: it waits for nobody. */
  readonly isOwn: boolean;
  readonly evidenceIds: readonly string[];
}

/** So many spans of it are missing at its rate of before: none of ten comes by chance once in 20,000 times. */
export const leastMissing = 10;
export const leastPause = 2 * 60_000;
/** Of the parts of the time in which work at its rate falls by chance it worked in so many: a job comes and goes. */
const steady = 0.9;
/** Of those who are called under a name so many reached it. */
const mostlyIt = 0.5;
const alwaysIt = 0.9;
/** Of its spans so many begin a trace, or others ask for what it does. */
const mostlyOwn = 0.9;
/** Calls go on at this part of their rate, or they have ended with it. */
const stillCalled = 0.3;

/** Who has fallen silent, and whether it is still asked for: nobody calls what only has nothing to do. */
export async function* silence(scene: Scene, table: TableName = 'spans'): Step<readonly Silent[]> {
  const { notebook, write, windows, focus } = scene;
  if (windows.references.length > 0 || windows.before === undefined) return [];
  const range = { start: windows.before.start, end: windows.now.end };
  const width = partWidth(lengthOf(range));
  // A consumer begins a trace, too, and waits for messages.
  const own = table === 'spans' ? write.countIf("parent_span_id = '' AND kind = 'INTERNAL'") : '0';
  const sql = `SELECT p.service_name AS service_name, sum(p.spans) AS spans, sum(p.own) AS own, count(*) AS parts, min(p.first_seen) AS first_seen, max(p.last_seen) AS last_seen
FROM (
  SELECT service_name, ${write.bucket('time', width)} AS part, ${table === 'metrics' ? 'count(DISTINCT time)' : 'count(*)'} AS spans, ${own} AS own, min(time) AS first_seen, max(time) AS last_seen
  FROM otel.${table}
  WHERE ${within(write, 'time', range).slice(1, -1)} AND service_name <> ''${table === 'spans' ? ` AND ${ownWork()}` : ''}${onlyFocus(write, focus)}
  GROUP BY service_name, ${write.bucket('time', width)}
) p
GROUP BY p.service_name
HAVING max(p.last_seen) < ${write.literal(new Date(range.end.getTime() - leastPause))}
ORDER BY sum(p.spans) DESC, p.service_name
LIMIT 50`;
  const read = (rows: readonly Row[]) =>
    rows.flatMap((row) => {
      const [first, since] = [row.time('first_seen'), row.time('last_seen')];
      if (first === undefined || since === undefined) return [];
      const worked = Math.max(1, since.getTime() - first.getTime());
      const missing = (row.number('spans') / worked) * (range.end.getTime() - since.getTime());
      const parts = worked / (width * 1_000);
      const isSteady = row.number('parts') >= steady * parts * (1 - Math.exp(-row.number('spans') / parts));
      const isOwn = row.number('own') >= mostlyOwn * row.number('spans');
      return isSteady && missing >= leastMissing && worked >= leastPause
        ? [{ service: row.text('service_name'), since, isOwn }]
        : [];
    });
  const { rows, evidenceId } = yield* notebook.ask({
    question: table === 'spans' ? 'Which services have fallen silent?' : `Which services send no ${table} any more?`,
    sql,
    window: range,
    judge(answer) {
      const lines = read(answer).map(
        (one) => `${code(one.service, 60)} has sent no ${table} since ${moment(one.since)}`,
      );
      return listed(lines.slice(0, 5), 'None has.');
    },
  });
  const found = read(rows).slice(0, 5);
  if (found.length === 0) return [];
  if (table === 'metrics') return found.map((one) => ({ ...one, caller: undefined, evidenceIds: [evidenceId] }));
  const callers = yield* stillCalling(
    scene,
    table,
    found.map(({ service }) => service),
    new Date(Math.max(...found.map(({ since }) => since.getTime()))),
  );
  return found.map(({ service, since, isOwn }) => {
    const caller = callers.of.get(service);
    return { service, since, isOwn, caller, evidenceIds: [evidenceId, ...(caller ? [callers.evidenceId] : [])] };
  });
}

/** One sentence without its full stop. */
export function describe({ service, since, caller }: Silent): string {
  const calls = caller ? `, though ${code(caller.service, 60)} ${code(caller.operation, 80)} still asks for it` : '';
  return `${code(service, 60)} has sent nothing since ${moment(since)}${calls}`;
}

async function* stillCalling(
  scene: Scene,
  table: 'spans' | 'logs',
  silent: readonly string[],
  since: Date,
): Step<{ readonly evidenceId: string; readonly of: ReadonlyMap<string, NonNullable<Silent['caller']>> }> {
  const { notebook, write, windows, templates } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const began = Math.min(...usual(windows).map(({ start }) => start.getTime()));
  const times = (windows.now.end.getTime() - since.getTime()) / Math.max(1, since.getTime() - began);
  const isSince = `p.time >= ${write.literal(since)}`;
  // Lines tell only what went along with it, so that has to have been always so.
  const isLines = table === 'logs';
  const work = isLines
    ? `(SELECT trace_id, trace_id AS span_id, trace_id AS parent_span_id, time, service_name, ${logTemplate(write, 'body', templates)} AS name, '' AS kind FROM otel.logs WHERE ${scope('time')} AND trace_id <> '')`
    : 'otel.spans';
  const sql = `WITH k AS (
  SELECT s.service_name AS silent, p.service_name AS service_name, p.name AS name, p.kind AS kind, count(DISTINCT p.span_id) AS reached
  FROM ${work} s JOIN ${work} p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
  WHERE ${scope('s.time')} AND ${scope('p.time')}${joined(scene, 's.trace_id')}${joined(scene, 'p.trace_id')} AND ${inList(write, 's.service_name', silent)} AND p.service_name <> s.service_name
  GROUP BY s.service_name, p.service_name, p.name, p.kind
)
SELECT k.silent AS silent, k.service_name AS caller, k.name AS operation, min(k.reached) AS reached, ${write.countIf(`NOT (${isSince})`)} AS calls_before, ${write.countIf(isSince)} AS calls_since
FROM ${work} p JOIN k ON k.service_name = p.service_name AND k.name = p.name AND k.kind = p.kind
WHERE ${scope('p.time')}${joined(scene, 'p.trace_id')}
GROUP BY k.silent, k.service_name, k.name, k.kind
ORDER BY calls_since DESC, k.silent, k.service_name, k.name
LIMIT 50`;
  const read = (rows: readonly Row[]) =>
    rows
      .map((row) => ({
        silent: row.text('silent'),
        service: row.text('caller'),
        operation: row.text('operation'),
        reached: row.number('reached'),
        before: row.number('calls_before'),
        since: row.number('calls_since'),
      }))
      .filter(
        (call) =>
          call.reached >= (isLines ? alwaysIt : mostlyIt) * call.before &&
          call.since >= Math.max(3, stillCalled * call.before * times),
      );
  const { rows, evidenceId } = yield* notebook.ask({
    question: 'Does anybody still call what has fallen silent?',
    sql,
    window: windows.now,
    judge(answer) {
      const calls = read(answer).slice(0, 5);
      const lines = calls.map(
        (one) => `${code(one.service, 60)} ${code(one.operation, 80)} still does, ${one.since} times`,
      );
      return listed(lines, 'Nobody does: it only has nothing to do.');
    },
  });
  const of = new Map<string, NonNullable<Silent['caller']>>();
  for (const { silent: name, service, operation } of read(rows)) {
    if (!of.has(name) && !silent.includes(service)) of.set(name, { service, operation });
  }
  return { evidenceId, of };
}
