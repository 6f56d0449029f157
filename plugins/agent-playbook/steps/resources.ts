import { code, onlyFocus, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import type { TimeRange } from '../question/time-range.ts';
import type { Step, Scene } from '../scene.ts';

/** A gauge of a service that is far from what it was. */
export interface ResourceChange {
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly valueBefore: number;
  /** Distance from the usual in robust standard deviations. */
  readonly z: number;
  /** No other service has anything like it in this metric at that time. */
  readonly alone: boolean;
  /** Something that can run out, by the metric's name. */
  readonly exhaustible: boolean;
}

export interface Resources extends Finding {
  /** Greatest z first. */
  readonly changes: readonly ResourceChange[];
}

/** How far back the usual is looked for: gauges come once a minute or less often. */
const hour = 3_600_000;
/** Words in the names of what a service can run out of. */
const words =
  'cpu processor usage utiliz saturat memory heap restart lag pending queue throttl disk thread connection'.split(' ');
export const farFromUsual = 8;
/** Peaks further apart than this are not one: what services share reaches them at once. */
const atOnce = 5 * 60_000;
/** Neither NULL nor NaN, which some engines take for the greatest number of all. */
const aNumber = 'value < 1e300';

/**
 * Which service runs out of something: gauges against their median and median absolute deviation of the hour before. A
 * change has to be more than a service usually uses at most: next to nothing that became little is no shortage. One that
 * several services share is of what they stand on or of the traffic, and points at none of them. With `every`, all gauges
 * are read, latency too: for lack of any other evidence.
 */
export async function* resources(
  { notebook, write, windows, focus, beganAt }: Scene,
  { every }: { readonly every: boolean },
): Step<Resources> {
  const { now } = windows;
  const before: TimeRange = { start: new Date(now.start.getTime() - hour), end: now.start };
  const named = words.map((word) => `lower(name) LIKE ${write.literal(`%${word}%`)}`).join(' OR ');
  const rows = `is_monotonic = false AND ${aNumber} AND service_name <> ''${every ? '' : ` AND (${named})`}${onlyFocus(write, focus)}`;
  // A tenth of the usual is noise in any gauge; without it one that never moved would make much of nothing.
  const scale =
    'CASE WHEN 1.4826 * d.deviation > 0.1 * abs(d.median_before) THEN 1.4826 * d.deviation ELSE 0.1 * abs(d.median_before) END';
  const distance = write.ratio('n.now_value - d.median_before', scale);
  const sql = `WITH m AS (
  SELECT service_name, name, ${write.quantile('value', 0.5)} AS median_before
  FROM otel.metrics
  WHERE ${within(write, 'time', before).slice(1, -1)} AND ${rows}
  GROUP BY service_name, name
), d AS (
  SELECT p.service_name AS service_name, p.name AS name, min(m.median_before) AS median_before, ${write.quantile('abs(p.value - m.median_before)', 0.5)} AS deviation, max(p.value) AS most_before
  FROM otel.metrics p JOIN m ON m.service_name = p.service_name AND m.name = p.name
  WHERE ${within(write, 'p.time', before).slice(1, -1)} AND p.${aNumber}
  GROUP BY p.service_name, p.name
), q AS (
  SELECT name, ${write.quantile('most_before', 0.5)} AS typical_most
  FROM d
  GROUP BY name
), n AS (
  SELECT service_name, name, ${beganAt === undefined ? 'max(value)' : write.quantile('value', 0.75)} AS now_value
  FROM otel.metrics
  WHERE ${within(write, 'time', now).slice(1, -1)} AND ${rows}
  GROUP BY service_name, name
), k AS (
  SELECT n.service_name AS service_name, n.name AS name, min(p.time) AS peak
  FROM otel.metrics p JOIN n ON n.service_name = p.service_name AND n.name = p.name
  WHERE ${within(write, 'p.time', now).slice(1, -1)} AND p.value >= n.now_value AND p.${aNumber}
  GROUP BY n.service_name, n.name
)
SELECT n.service_name AS service_name, n.name AS name, n.now_value AS value_now, d.median_before AS value_before, d.most_before AS most_before, k.peak AS peak, ${distance} AS z
FROM n JOIN d ON d.service_name = n.service_name AND d.name = n.name JOIN q ON q.name = n.name JOIN k ON k.service_name = n.service_name AND k.name = n.name
WHERE ${scale} > 0 AND n.now_value - d.median_before > q.typical_most
ORDER BY z DESC, service_name, name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: every
      ? 'Which service has a gauge far above what it was?'
      : 'Which service uses far more of a resource than before?',
    sql,
    window: { start: before.start, end: now.end },
    judge(found) {
      const changes = read(found).filter(({ alone, z }) => alone && z >= farFromUsual);
      const verdict = found.length === 0 || every ? 'neutral' : 'refutes';
      return listed(changes.slice(0, 3).map(describe), 'None does, by its gauges.', verdict);
    },
  });
  return { ...finding, changes: read(answer) };
}

function read(rows: readonly Row[]): readonly ResourceChange[] {
  const rises = rows.map((row) => ({
    service: row.text('service_name'),
    metric: row.text('name'),
    value: row.number('value_now'),
    valueBefore: row.number('value_before'),
    z: row.number('z'),
    peak: row.time('peak')?.getTime() ?? 0,
  }));
  return rises.map(({ peak, ...own }) => {
    const shared = rises.some(
      (other) =>
        other.metric === own.metric &&
        other.service !== own.service &&
        other.z >= farFromUsual &&
        other.value - other.valueBefore > (own.value - own.valueBefore) / 2 &&
        Math.abs(other.peak - peak) <= atOnce,
    );
    const exhaustible = words.some((word) => own.metric.toLowerCase().includes(word));
    return Object.assign(own, { alone: !shared, exhaustible });
  });
}

export function describe({ service, metric, value, valueBefore }: ResourceChange): string {
  return `${code(metric, 80)} of ${code(service, 60)} is ${short(value)} (${short(valueBefore)} before)`;
}

export function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
