import { code, instanceOf, isLevel, isNamed, milliseconds, onlyFocus, within } from '../sql.ts';
import { hourBefore, listed, type Finding, type Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';

/** A gauge of a service that is far from what it was. */
export interface ResourceChange {
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly valueBefore: number;
  /** UCUM. */
  readonly unit: string;
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

/** Words in the names of what a service can run out of. */
const words =
  'cpu processor usage utiliz saturat memory heap restart lag pending queue throttl disk thread connection'.split(' ');
/** Words in the names of what is lacking where it falls. */
const falling = 'free availab idle remaining hit ready replica'.split(' ');
/** Of the usual that is left, a fall leaves at most so much. */
const leftAtMost = 0.6;
export const farFromUsual = 8;
/** Peaks further apart than this are not one: what services share reaches them at once. */
const atOnce = 5 * 60_000;
/** Of a gauge that is usually 0 nothing tells how far it scatters: an eighth of what is much of anything, and of bytes. */
const someOf = 12.5;
const someBytes = 16_777_216;
/** So many points of such a gauge are at least half of the highest: one alone is a burst. */
const fewestHigh = 3;
/** Neither NULL nor NaN, which some engines take for the greatest number of all. */
const aNumber = 'value < 1e300';

/**
 * Which service runs out of something: gauges against their median and median absolute deviation of the hour before. A
 * change has to be more than a service usually uses at most: next to nothing that became little is no shortage. One that
 * several services share is of what they stand on or of the traffic, and points at none of them. With `every`, all gauges
 * are read, latency and the rates of counters too: for lack of any other evidence.
 */
export async function* resources(scene: Scene, { every }: { readonly every: boolean }): Step<Resources> {
  const { notebook, write, windows, focus, beganAt } = scene;
  const { now } = windows;
  const before = hourBefore(windows);
  const range = { start: before.start, end: now.end };
  const all = `${within(write, 'time', range).slice(1, -1)} AND ${aNumber} AND service_name <> ''${onlyFocus(write, focus)}`;
  const falls = isNamed(write, falling);
  const over = 'OVER (PARTITION BY service_name, name, instance, start_time ORDER BY time)';
  const rates = `
  UNION ALL SELECT service_name, name, time, '' AS unit, sum(CASE WHEN place = 1 THEN 0 WHEN total >= total_last THEN total - total_last ELSE total END) AS amount, 0 AS falls, 0 AS is_level
  FROM (
    SELECT service_name, name, time, total, row_number() ${over} AS place, lag(total) ${over} AS total_last
    FROM (
      SELECT service_name, name, time, start_time, ${instanceOf(write)} AS instance, sum(value) AS total
      FROM otel.metrics
      WHERE ${all} AND is_monotonic = true AND aggregation_temporality = 'cumulative'
      GROUP BY service_name, name, time, start_time, ${instanceOf(write)}
    ) r
  ) c
  GROUP BY service_name, name, time`;
  // A tenth of the usual is noise in any gauge; without it one that never moved would make much of nothing. What falls to
  // nothing cannot fall further.
  const least = 'CASE WHEN d.falls = 1 THEN 0.02 ELSE 0.1 END * abs(d.median_before)';
  const grown = 'd.is_level = 1 AND d.falls = 0 AND d.median_before = 0 AND d.deviation = 0';
  const some = `CASE WHEN n.unit = 'By' THEN ${someBytes} ELSE ${someOf} END`;
  const scale = `CASE WHEN ${grown} THEN CASE WHEN d.most_before > ${some} THEN d.most_before ELSE ${some} END WHEN 1.4826 * d.deviation > ${least} THEN 1.4826 * d.deviation ELSE ${least} END`;
  const distance = write.ratio('n.now_value - d.median_before', scale);
  const sql = `WITH g AS (
  SELECT service_name, name, time, unit, CASE WHEN ${falls} THEN -value ELSE value END AS amount, CASE WHEN ${falls} THEN 1 ELSE 0 END AS falls, 1 AS is_level
  FROM otel.metrics
  WHERE ${all} AND ${isLevel}${every ? rates : ` AND ${isNamed(write, [...words, ...falling])}`}
), m AS (
  SELECT service_name, name, ${write.quantile('amount', 0.5)} AS median_before
  FROM g
  WHERE ${within(write, 'time', before)}
  GROUP BY service_name, name
), d AS (
  SELECT p.service_name AS service_name, p.name AS name, max(p.falls) AS falls, max(p.is_level) AS is_level, min(m.median_before) AS median_before, ${write.quantile('abs(p.amount - m.median_before)', 0.5)} AS deviation, max(p.amount) AS most_before
  FROM g p JOIN m ON m.service_name = p.service_name AND m.name = p.name
  WHERE ${within(write, 'p.time', before)}
  GROUP BY p.service_name, p.name
), q AS (
  SELECT name, ${write.quantile('most_before', 0.5)} AS typical_most
  FROM d
  GROUP BY name
), n AS (
  SELECT service_name, name, ${beganAt === undefined ? 'max(amount)' : write.quantile('amount', 0.75)} AS now_value, max(unit) AS unit
  FROM g
  WHERE ${within(write, 'time', now)}
  GROUP BY service_name, name
), k AS (
  SELECT n.service_name AS service_name, n.name AS name, min(CASE WHEN p.amount >= n.now_value THEN p.time END) AS peak, ${write.countIf('2 * p.amount >= n.now_value')} AS high
  FROM g p JOIN n ON n.service_name = p.service_name AND n.name = p.name
  WHERE ${within(write, 'p.time', now)}
  GROUP BY n.service_name, n.name
)
SELECT n.service_name AS service_name, n.name AS name, CASE WHEN d.falls = 1 THEN -n.now_value ELSE n.now_value END AS value_now, CASE WHEN d.falls = 1 THEN -d.median_before ELSE d.median_before END AS value_before, k.peak AS peak, n.unit AS unit, ${distance} AS z
FROM n JOIN d ON d.service_name = n.service_name AND d.name = n.name JOIN q ON q.name = n.name JOIN k ON k.service_name = n.service_name AND k.name = n.name
WHERE ${scale} > 0 AND (NOT (${grown}) OR k.high >= ${fewestHigh}) AND ((d.falls = 0 AND n.now_value - d.median_before > q.typical_most) OR (d.falls = 1 AND n.now_value > d.most_before AND n.now_value >= ${leftAtMost} * d.median_before))
ORDER BY z DESC, service_name, name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: every
      ? 'Which service has a gauge far from what it was?'
      : 'Which service uses far more of a resource than before?',
    sql,
    window: range,
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
    unit: row.text('unit'),
    z: row.number('z'),
    peak: row.time('peak')?.getTime() ?? 0,
  }));
  return rises.map(({ peak, ...own }) => {
    const shared = rises.some(
      (other) =>
        other.metric === own.metric &&
        other.service !== own.service &&
        other.z >= farFromUsual &&
        Math.abs(other.value - other.valueBefore) > Math.abs(own.value - own.valueBefore) / 2 &&
        Math.abs(other.peak - peak) <= atOnce,
    );
    const exhaustible = [...words, ...falling].some((word) => own.metric.toLowerCase().includes(word));
    return Object.assign(own, { alone: !shared, exhaustible });
  });
}

export function describe({ service, metric, value, valueBefore, unit }: ResourceChange): string {
  return `${code(metric, 80)} of ${code(service, 60)} is ${short(value, unit)} (${short(valueBefore, unit)} before)`;
}

const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const nanoseconds = new Map([
  ['s', 1e9],
  ['ms', 1e6],
  ['us', 1e3],
  ['ns', 1],
]);

/** As people read it, where its unit says how. */
export function short(value: number, unit: string): string {
  const plain = (amount: number): string => String(Number(amount.toPrecision(3)));
  const time = nanoseconds.get(unit);
  if (time !== undefined) return milliseconds(value * time);
  if (unit !== 'By') return plain(value);
  const power = Math.min(sizes.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(value))) / 10)));
  return `${plain(value / 1024 ** power)} ${sizes[power] ?? ''}`;
}
