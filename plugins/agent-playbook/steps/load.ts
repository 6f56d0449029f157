import { code, eitherWindow, isBefore, moment, onlyFocus, partWidth, percent, within } from '../sql.ts';
import { lengthOf, listed, type Row } from '../notebook.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';

/** Who takes most of what others wait for and did not before, or asks far more often for the same. */
export interface Load {
  readonly service: string;
  /** What it burdens. */
  readonly on: string;
  /** Of the time that it works for all its callers. */
  readonly share: number;
  readonly shareBefore: number;
  readonly calls: number;
  readonly callsBefore: number;
  /** Calls in each of its requests, where they have multiplied. */
  readonly each?: { readonly now: number; readonly before: number };
  readonly evidenceId: string;
}

const leastShare = 0.3;
const grown = 3;
/** Of its requests, and of the calls at most: what fails or is given up is asked again, and that is no fault of the asking. */
const [fewestRequests, mostFailed] = [20, 0.05];

/** What is slow: a service, or something that sends no spans. */
export interface Burdened {
  readonly service: string;
  readonly dependency: string;
}

/** Who asks more of it than before: a job that is new, or a caller that does more. One that asks all the time as before is none. */
export async function* load(scene: Scene, { service, dependency }: Burdened): Step<Load | undefined> {
  const { notebook, write, windows } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const target = write.literal(dependency);
  const keys = ['server.address', 'peer.service', 'db.system.name', 'db.system'];
  const asked =
    dependency === ''
      ? `SELECT p.service_name AS caller, s.time AS time, s.duration_nano AS duration_nano, s.trace_id AS trace_id, CASE WHEN p.status_code = 'ERROR' THEN p.status_code ELSE s.status_code END AS status_code
  FROM otel.spans s JOIN otel.spans p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
  WHERE ${scope('s.time')} AND ${scope('p.time')}${joined(scene, 's.trace_id')}${joined(scene, 'p.trace_id')} AND s.service_name = ${write.literal(service)} AND p.service_name <> s.service_name AND s.kind <> 'CONSUMER'`
      : `SELECT service_name AS caller, time, duration_nano, trace_id, status_code
  FROM otel.spans
  WHERE ${scope('time')}${joined(scene)} AND kind = 'CLIENT' AND (${keys.map((key) => `${write.attribute('attributes', key)} = ${target}`).join(' OR ')})`;
  const [now, before] = [within(write, 'time', windows.now), isBefore(write, 'time', windows)];
  const busy = (side: string) => `sum(CASE WHEN ${side} THEN duration_nano ELSE 0 END)`;
  const requests = (side: string) => `count(DISTINCT CASE WHEN ${side} THEN trace_id END)`;
  const sql = `SELECT caller, ${write.countIf(now)} AS calls, ${write.countIf(before)} AS calls_before, ${busy(now)} AS busy_nano, ${busy(before)} AS busy_before_nano, ${requests(now)} AS requests, ${requests(before)} AS requests_before, ${write.countIf(`${now} AND status_code = 'ERROR'`)} AS failed
FROM (
  ${asked}
) c
GROUP BY caller
ORDER BY ${busy(now)} DESC, caller
LIMIT 50`;
  const on = dependency === '' ? service : dependency;
  const { rows, evidenceId } = yield* notebook.ask({
    question: `Who asks more of ${code(on, 80)} than before?`,
    sql,
    window: windows.now,
    judge(answer) {
      const found = read(answer);
      return listed(found ? [describe({ ...found, on })] : [], 'Nobody does: its callers share it as before.');
    },
  });
  const found = read(rows);
  return found && (found.service !== service || found.each) ? { ...found, on, evidenceId } : undefined;
}

function read(rows: readonly Row[]): Burdening | undefined {
  const askers = rows.map((row) => ({
    service: row.text('caller'),
    busy: row.number('busy_nano'),
    busyBefore: row.number('busy_before_nano'),
    calls: row.number('calls'),
    callsBefore: row.number('calls_before'),
  }));
  const [all, allBefore] = [sumOf(askers, 'busy'), sumOf(askers, 'busyBefore')];
  for (const [index, { busy, busyBefore, ...asker }] of askers.entries()) {
    const [requests = 0, before = 0, failed = 0] = ['requests', 'requests_before', 'failed'].map((column) =>
      rows[index]?.number(column),
    );
    if (Math.min(requests, before) < fewestRequests || busy < leastShare * all) continue;
    const each = { now: asker.calls / requests, before: asker.callsBefore / before };
    if (each.now < grown * each.before || failed > mostFailed * asker.calls) continue;
    return { ...asker, share: busy / all, shareBefore: allBefore === 0 ? 0 : busyBefore / allBefore, each };
  }
  return burdening(askers);
}

function sumOf<Key extends string>(askers: readonly Readonly<Record<Key, number>>[], which: Key): number {
  return askers.reduce((sum, asker) => sum + asker[which], 0);
}

type Burdening = Omit<Load, 'on' | 'evidenceId'>;

/** The caller that takes far more of the time of what they all ask than before. */
export function burdening(
  askers: readonly (Omit<Burdening, 'share' | 'shareBefore'> & Readonly<Record<'busy' | 'busyBefore', number>>)[],
): Burdening | undefined {
  const [all, allBefore] = [sumOf(askers, 'busy'), sumOf(askers, 'busyBefore')];
  // Who is alone with it shares it with nobody, before and now.
  if (askers.length < 2 || all === 0 || allBefore === 0) return undefined;
  return askers
    .map(({ busy, busyBefore, ...asker }) => ({ ...asker, share: busy / all, shareBefore: busyBefore / allBefore }))
    .find(({ share, shareBefore }) => share >= leastShare && share >= grown * shareBefore);
}

export function describe(found: Omit<Load, 'evidenceId'>): string {
  const { service, on, share, shareBefore, calls, callsBefore, each } = found;
  if (each !== undefined) {
    return `${code(service, 60)} asks ${code(on, 80)} ${each.now.toFixed(1)} times in each of its requests, ${each.before.toFixed(1)} before (${calls} calls, ${callsBefore} before)`;
  }
  return `${code(service, 60)} takes ${percent(share)} of the time that ${code(on, 80)} works for its callers, ${percent(shareBefore)} before (${calls} calls, ${callsBefore} before)`;
}

/** Requests from outside come far less often than before. */
export interface Fewer {
  /** So many of which far fewer come. */
  readonly operations: number;
  /** Of all these a minute, now in the latest part of the time. */
  readonly rate: number;
  readonly rateBefore: number;
  /** The one that came most. */
  readonly service: string;
  readonly operation: string;
  /** When they became fewer. */
  readonly at: Date | undefined;
  readonly evidenceIds: readonly string[];
}

type Counts = Omit<Fewer, 'at' | 'evidenceIds'>;

const minute = 60_000;
/** Of what came before at most so much is left, and that is beyond so many times what counts scatter by chance. */
const [leftAtMost, beyondChance] = [0.5, 5];
/** What became rare was so much of all that came: one page that nobody asks for is no lack of requests. */
const mostOfAll = 0.5;

/** Whether far fewer requests come in of late: nobody sees a failure where nobody gets through. */
export async function* fewerRequests(scene: Scene): Step<Fewer | undefined> {
  const { notebook, write, windows, focus } = scene;
  const { now, before, references } = windows;
  if (before === undefined || references.length > 0) return undefined;
  // What has just begun is a small part of an hour.
  const length = Math.min(lengthOf(now), Math.max(10 * minute, lengthOf(now) / 4));
  const late = { start: new Date(now.end.getTime() - length), end: now.end };
  const scale = length / lengthOf(before);
  // A job that is over is no lack of requests.
  const outside = `parent_span_id = '' AND kind = 'SERVER'${onlyFocus(write, focus)}`;
  const sql = `SELECT service_name, name, ${write.countIf(within(write, 'time', late))} AS requests, ${write.countIf(isBefore(write, 'time', windows))} AS requests_before
FROM otel.spans
WHERE ${eitherWindow(write, 'time', windows)} AND ${outside}
GROUP BY service_name, name
ORDER BY requests_before DESC, service_name, name
LIMIT 50`;
  const read = (rows: readonly Row[]): (Counts & { readonly halfway: number }) | undefined => {
    const all = rows.map((row) => ({
      service: row.text('service_name'),
      operation: row.text('name'),
      count: row.number('requests'),
      expected: row.number('requests_before') * scale,
    }));
    const total = (of: typeof all, which: 'count' | 'expected') => of.reduce((sum, one) => sum + one[which], 0);
    const fewer = all.filter(
      ({ count, expected }) => count <= leftAtMost * expected && expected - count >= beyondChance * Math.sqrt(expected),
    );
    const [most] = fewer;
    if (most === undefined || total(fewer, 'expected') < mostOfAll * total(all, 'expected')) return undefined;
    const minutes = length / minute;
    const { service, operation, count, expected } = most;
    const [rate, rateBefore] = [total(fewer, 'count') / minutes, total(fewer, 'expected') / minutes];
    const halfway = (count + expected) / 2 / minutes;
    return { operations: fewer.length, rate, rateBefore, service, operation, halfway };
  };
  const { rows, evidenceId } = yield* notebook.ask({
    question: 'Do far fewer requests come in than before?',
    sql,
    window: late,
    judge(answer) {
      const found = read(answer);
      return listed(found ? [describeFewer(found)] : [], 'No: of most operations as many come as before, or chance.');
    },
  });
  const found = read(rows);
  if (found === undefined) return undefined;
  const range = { start: before.start, end: now.end };
  const width = partWidth(lengthOf(range));
  const bucket = write.bucket('time', width);
  const dropped = (parts: readonly Row[]): Date | undefined => {
    const last = parts.findLast((row) => row.number('requests') > (found.halfway * width) / 60)?.time('bucket');
    return last && new Date(last.getTime() + width * 1_000);
  };
  const course = yield* notebook.ask({
    question: `Since when do fewer requests come to ${code(found.service, 60)} ${code(found.operation, 80)}?`,
    sql: `SELECT ${bucket} AS bucket, count(*) AS requests
FROM otel.spans
WHERE ${within(write, 'time', range).slice(1, -1)} AND service_name = ${write.literal(found.service)} AND name = ${write.literal(found.operation)} AND ${outside}
GROUP BY ${bucket}
ORDER BY ${bucket}
LIMIT 50`,
    window: range,
    judge(parts) {
      const at = dropped(parts);
      return at === undefined ? 'That cannot be told.' : `Since about ${moment(at)}.`;
    },
  });
  return { ...found, at: dropped(course.rows), evidenceIds: [evidenceId, course.evidenceId] };
}

/** One sentence without its full stop. */
export function describeFewer({
  operations,
  service,
  operation,
  rate,
  rateBefore,
  at,
}: Counts & Pick<Partial<Fewer>, 'at'>): string {
  const often = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  const since = at === undefined ? '' : ` since about ${moment(at)}`;
  const most = `${code(operation, 80)} of ${code(service, 60)}`;
  const rates = `${often(rate)} a minute lately, ${often(rateBefore)} before`;
  return `Far fewer requests come in${since}: ${operations === 1 ? `${most} has ${rates}` : `${operations} operations have ${rates}, most of them ${most}`}`;
}
