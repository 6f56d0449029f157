import { code, eitherWindow, isLevel, isNamed, onlyFocus, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import { farFromUsual, short } from './resources.ts';
import type { Scene, Step } from '../scene.ts';

/** What gauges say about a service's requests: how many fail, or how long they take. */
type Measure = 'failures' | 'latency';

/** A gauge of a service that says that its requests fare worse. */
export interface Faring {
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly valueBefore: number;
  /** UCUM. */
  readonly unit: string;
  /** Requests counted now; undefined where nothing counts them. */
  readonly requests: number | undefined;
  /** How far it weighs, among services with the same gauge. */
  readonly weight: number;
  /** Stands out by size and from how it scatters. */
  readonly worse: boolean;
}

export interface RequestGauges extends Finding {
  /** By gauge, the service that weighs most first. */
  readonly faring: readonly (readonly Faring[])[];
}

/** By words in the names of gauges, as no convention is kept everywhere. */
export const words = {
  requests: ['request', 'calls', 'invocation', 'throughput', 'rps'],
  failures: ['error', 'fault', 'fail', '5xx', 'exception', 'panic', 'cancelled', 'reject'],
  wellness: ['availab', 'success'],
  latency: ['latency', 'duration', 'response_time', 'response time'],
} as const;

/** Of several gauges of one thing, the mean is what adds up over requests. */
const means = ['average', 'mean', 'avg'];

const hour = 3_600_000;
/** What people and alerts notice began some minutes before. */
const unnoticed = 600_000;

/**
 * How requests fare by gauges alone. What is usual is the median of the hour before and, apart, of what a person names, whichever
 * is nearer to now: what was different already did not begin now.
 */
export async function* requestGauges(
  { notebook, write, windows, focus }: Scene,
  measure: Measure,
): Step<RequestGauges> {
  const { now } = windows;
  const before = { start: new Date(now.start.getTime() - hour), end: new Date(now.start.getTime() - unnoticed) };
  const wanted = measure === 'failures' ? [...words.failures, ...words.wellness] : words.latency;
  const rows = `value < 1e300 AND service_name <> ''${onlyFocus(write, focus)}`;
  const isGauge = `${rows} AND ${isLevel}`;
  const falls = measure === 'failures' ? isNamed(write, words.wellness) : '1 = 0';
  // Turned round where a fall is the failure, so that more is worse.
  const worse = `CASE WHEN ${falls} THEN -value ELSE value END`;
  const apart = windows.references.length > 0;
  const either = apart
    ? eitherWindow(write, 'time', { ...windows, before })
    : within(write, 'time', { start: before.start, end: now.end }).slice(1, -1);
  const isUsual = apart
    ? `(${[before, ...windows.references].map((range) => within(write, 'time', range)).join(' OR ')})`
    : within(write, 'time', before);
  const sql = `WITH p AS (
  SELECT service_name, name, unit, ${worse} AS worse, CASE WHEN ${within(write, 'time', now)} THEN 'now' WHEN ${within(write, 'time', before)} THEN 'before' ELSE 'named' END AS side
  FROM otel.metrics
  WHERE ${either} AND ${isGauge} AND ${isNamed(write, wanted)} AND (${within(write, 'time', now)} OR ${isUsual})
), u AS (
  SELECT service_name, name, max(typical) AS typical, max(spread) AS spread
  FROM (
    SELECT service_name, name, side, ${write.quantile('worse', 0.5)} AS typical, (${write.quantile('worse', 0.75)} - ${write.quantile('worse', 0.25)}) / 1.349 AS spread
    FROM p
    WHERE side <> 'now'
    GROUP BY service_name, name, side
    HAVING count(*) >= 3
  ) s
  GROUP BY service_name, name
), m AS (
  SELECT service_name, name, ${write.quantile('worse', 0.99)} AS most, avg(worse) AS mean, avg(worse * worse) AS square
  FROM p
  WHERE side <> 'now'
  GROUP BY service_name, name
), n AS (
  SELECT service_name, name, avg(worse) AS value_now, max(worse) AS worst, max(unit) AS unit
  FROM p
  WHERE side = 'now'
  GROUP BY service_name, name
), r AS (
  SELECT service_name, max(requests) AS requests
  FROM (
    SELECT service_name, name, sum(value) AS requests
    FROM otel.metrics
    WHERE ${within(write, 'time', now).slice(1, -1)} AND ${rows} AND (${isLevel} OR aggregation_temporality = 'delta') AND ${isNamed(write, words.requests)} AND NOT ${isNamed(write, [...words.latency, ...words.failures, ...words.wellness])}
    GROUP BY service_name, name
  ) c
  GROUP BY service_name
)
SELECT n.service_name AS service_name, n.name AS name, n.value_now AS value_now, u.typical AS value_before, u.spread AS spread, n.worst AS worst, n.unit AS unit, m.most AS most_before, m.mean AS mean_before, m.square AS square_before, r.requests AS requests
FROM n JOIN u ON u.service_name = n.service_name AND u.name = n.name JOIN m ON m.service_name = n.service_name AND m.name = n.name LEFT JOIN r ON r.service_name = n.service_name
WHERE n.value_now > u.typical AND n.worst > m.most
ORDER BY (n.value_now - u.typical) * COALESCE(r.requests, 1) DESC, n.service_name, n.name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question:
      measure === 'failures'
        ? 'Of which services do more requests fail than before, by their gauges?'
        : 'Which services answer later than before, by their gauges?',
    sql,
    window: { start: before.start, end: now.end },
    judge(found) {
      const worst = read(found, measure).flatMap(([most]) => most ?? []);
      return listed(worst.slice(0, 5).map(describe), 'None, by its gauges.', 'neutral');
    },
  });
  return { ...finding, faring: read(answer, measure) };
}

function read(rows: readonly Row[], measure: Measure): readonly (readonly Faring[])[] {
  const all = rows.map((row) => {
    const [now, before] = [row.number('value_now'), row.number('value_before')];
    // A fall that is a failure was turned round.
    const sign = now < 0 || before < 0 ? -1 : 1;
    return {
      service: row.text('service_name'),
      metric: row.text('name'),
      unit: row.text('unit'),
      value: now * sign,
      valueBefore: before * sign,
      change: now - before,
      spread: row.number('spread'),
      usually: isUsual(now, row.number('mean_before'), row.number('square_before')),
      requests: row.number('requests') > 0 ? row.number('requests') : undefined,
    };
  });
  const isMean = ({ metric }: { readonly metric: string }): boolean =>
    means.some((word) => metric.toLowerCase().includes(word));
  const kept = measure === 'latency' && all.some(isMean) ? all.filter(isMean) : all;
  const byMetric = Map.groupBy(
    // What scatters as far by itself is no failure.
    kept.filter(
      ({ change, spread, usually }) => measure === 'latency' || (change >= farFromUsual * spread && !usually),
    ),
    ({ metric }) => metric,
  );
  return [...byMetric.values()].map((same) => {
    const isCounted = same.filter(({ requests }) => requests !== undefined).length >= same.length / 2;
    const faring = same.map(({ change, spread, ...known }): Faring => {
      const requests = isCounted ? (known.requests ?? 1) : 1;
      const size = measure === 'latency' ? known.value >= 1.4 * known.valueBefore : change >= leastFall(known);
      // As chi-squared: a share of 1 in 10 of few requests tells as much as a smaller one of more.
      const weight = requests * (measure === 'latency' ? change : change * change);
      return { ...known, weight, worse: size && change >= farFromUsual * spread };
    });
    return faring.toSorted((a, b) => b.weight - a.weight);
  });
}

/** Of availability, one in a hundred requests; any rise of a gauge of failures. */
function leastFall({ value, valueBefore }: Pick<Faring, 'value' | 'valueBefore'>): number {
  if (value >= valueBefore) return 0;
  return valueBefore <= 1 ? 0.01 : 1;
}

/** Whether a mean is within one standard deviation of that of before: now and then a request fails, and the median is 0. */
function isUsual(now: number, mean: number, square: number): boolean {
  return now - mean <= Math.sqrt(Math.max(0, square - mean * mean));
}

export function describe({ service, metric, value, valueBefore, unit }: Faring): string {
  return `${code(metric, 80)} of ${code(service, 60)} is ${short(value, unit)} (${short(valueBefore, unit)} before)`;
}
