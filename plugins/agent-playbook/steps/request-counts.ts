import {
  code,
  firstOf as first,
  instanceOf,
  isNamed,
  logTemplate,
  milliseconds,
  onlyFocus,
  partWidth,
  percent,
  within,
} from '../sql.ts';
import { hourBefore, lengthOf, listed, type Finding, type Row } from '../notebook.ts';
import type { TimeRange } from '../question/time-range.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';
import { binomialTail, rate } from '../statistics.ts';
import { readChange, type ErrorChange } from './error-shift.ts';
import { words } from './request-gauges.ts';
import { keys as places } from './placement.ts';

/** Requests that a service serves, or sends to another, as counters and histograms count them. */
export interface Counted extends ErrorChange {
  readonly metric: string;
  /** What is called; empty where it is served. */
  readonly peer: string;
  /** Seconds per request, now and before; 0 where nothing measures them. */
  readonly mean: number;
  readonly meanBefore: number;
  /** Seconds that all of them take. */
  readonly seconds: number;
  readonly secondsBefore: number;
  /** They take longer, by size and beyond how they scatter. */
  readonly slower: boolean;
}

export interface RequestCounts extends Finding {
  readonly counted: readonly Counted[];
  /** Services of which something measures how long their requests take. */
  readonly timed: ReadonlySet<string>;
}

const peers = ['server.address', 'peer.service', 'net.peer.name', 'db.system.name', 'db.system'];
const operations = ['http.route', 'rpc.method', 'messaging.operation.name', 'code.function.name'];
const statuses = ['http.response.status_code', 'http.status_code', 'status_code', 'code', 'status'];
/** What counters count, as no one of them tells both requests and failures. */
const counters = 'counters';

const [fewestParts, leastTimes, leastSeconds] = [3, 1.4, 0.002];
/** One in so many series is slower by accident. */
const byChance = 1e-5;

/**
 * A row for each series and report: `n` requests, `failures` and `seconds` since the report before. What is cumulative is read by
 * its differences, and a restarted one counts from zero. Series of one report are added up first: they come at one time.
 */
export function reports({ write, focus }: Scene, range: TimeRange, more: readonly string[]): string {
  const isFailure = `type = 'sum' AND ${isNamed(write, words.failures)}`;
  const isCounter = `type = 'sum' AND is_monotonic = true AND ${isNamed(write, [...words.requests, ...words.failures])}`;
  const isDuration = `type IN ('histogram', 'exponential_histogram', 'summary') AND ${isNamed(write, words.latency)}`;
  const isError = `COALESCE(${write.attribute('attributes', 'error.type')}, '') <> '' OR ${first(write, 'attributes', statuses)} LIKE '5%' OR (${isFailure})`;
  const unit = "CASE unit WHEN 'ms' THEN 0.001 WHEN 'us' THEN 0.000001 WHEN 'ns' THEN 0.000000001 ELSE 1 END";
  const series = ['service_name, metric, peer, operation, failed, counts', ...more, 'instance, start_time'].join(', ');
  const over = `OVER (PARTITION BY ${series} ORDER BY time)`;
  const difference = (column: string) =>
    `CASE WHEN temporality = 'delta' THEN ${column} WHEN place = 1 THEN CASE WHEN start_time >= ${write.literal(range.start)} THEN ${column} ELSE 0 END WHEN ${column} >= ${column}_last THEN ${column} - ${column}_last ELSE ${column} END`;
  const placed = places
    .map((key, index) => `${first(write, 'resource_attributes', [key])} AS place_${index}, `)
    .join('');
  return `p AS (
  SELECT service_name, CASE WHEN type = 'sum' THEN '${counters}' ELSE name END AS metric, CASE WHEN lower(name) LIKE '%client%' THEN ${first(write, 'attributes', peers)} ELSE '' END AS peer, ${first(write, 'attributes', operations)} AS operation,
    CASE WHEN ${isError} THEN 1 ELSE 0 END AS failed, CASE WHEN ${isFailure} THEN 0 ELSE 1 END AS counts, ${more.length > 0 ? placed : ''}${instanceOf(write)} AS instance, start_time, time,
    aggregation_temporality AS temporality, COALESCE(1.0 * count, value) AS n, COALESCE(sum, 0) * ${unit} AS s
  FROM otel.metrics
  WHERE ${within(write, 'time', range).slice(1, -1)} AND service_name <> '' AND ((${isCounter}) OR (${isDuration}))${onlyFocus(write, focus)}
), t AS (
  SELECT ${series}, time, temporality, sum(n) AS n, sum(s) AS s
  FROM p
  GROUP BY ${series}, time, temporality
), l AS (
  SELECT ${series}, time, temporality, n, s, row_number() ${over} AS place, lag(n) ${over} AS n_last, lag(s) ${over} AS s_last
  FROM t
), d AS (
  SELECT ${series}, time, ${difference('n')} AS n, ${difference('s')} AS s
  FROM l
)`;
}

/** The same of log lines: `seconds` since the line before in the same trace, which is how long their service worked or waited. */
export function lines({ write, focus, templates, sample }: Scene, range: TimeRange): string {
  const over = 'OVER (PARTITION BY trace_id ORDER BY time)';
  const placed = places
    .map((key, index) => `${first(write, 'resource_attributes', [key])} AS place_${index}`)
    .join(', ');
  return `l AS (
  SELECT service_name, ${logTemplate(write, 'body', templates)} AS operation, CASE WHEN severity_number >= 17 THEN 1 ELSE 0 END AS failed, ${placed}, time,
    row_number() ${over} AS place, ${write.epochSeconds('time')} AS second, lag(${write.epochSeconds('time')}) ${over} AS second_last
  FROM otel.logs
  WHERE ${within(write, 'time', range).slice(1, -1)} AND service_name <> '' AND trace_id <> ''${joined({ sample })}${onlyFocus(write, focus)}
), d AS (
  SELECT service_name, 'lines' AS metric, '' AS peer, operation, failed, CASE WHEN place > 1 THEN 1 ELSE 0 END AS counts, ${places.map((_, index) => `place_${index}`).join(', ')}, time, 1 AS n, CASE WHEN place > 1 THEN second - second_last ELSE 0 END AS s
  FROM l
)`;
}

export type Source = 'metrics' | 'logs';

/** Requests, failures and seconds per service, operation and called one, from counters and histograms. */
export async function* requestCounts(scene: Scene, source: Source): Step<RequestCounts> {
  const { notebook, write, windows } = scene;
  const { now } = windows;
  const before = hourBefore(windows);
  const range = { start: before.start, end: now.end };
  const part = write.bucket('time', partWidth(lengthOf(now)));
  const sides = `CASE WHEN ${within(write, 'time', now)} THEN 'now' WHEN ${within(write, 'time', before)} THEN 'before' ELSE '' END`;
  const side = (which: string, value: string) => `sum(CASE WHEN side = '${which}' THEN ${value} ELSE 0 END)`;
  const mean = (which: string) =>
    `CASE WHEN side = '${which}' AND requests > 0 THEN ${write.ratio('seconds', 'requests')} END`;
  const added = `${side('now', 'seconds')} - ${side('now', 'requests')} * COALESCE(${write.ratio(side('before', 'seconds'), side('before', 'requests'))}, 0)`;
  const excess = `${side('now', 'failures')} - ${side('now', 'requests')} * COALESCE(${write.ratio(side('before', 'failures'), side('before', 'requests'))}, 0)`;
  const isLines = source === 'logs';
  const sql = `WITH ${isLines ? lines(scene, range) : reports(scene, range, [])}, c AS (
  SELECT service_name, metric, peer, operation, ${part} AS part, ${sides} AS side, sum(n * counts) AS requests, ${isLines ? '0' : 'sum(n * failed)'} AS failures, sum(s) AS seconds
  FROM d
  GROUP BY service_name, metric, peer, operation, ${part}, ${sides}
), m AS (
  SELECT service_name, metric, peer, operation, side, requests, failures, seconds, ${mean('now')} AS mean_now, ${mean('before')} AS mean_before
  FROM c
), b AS (
  SELECT service_name, metric, peer, operation, ${write.quantile('mean_before', 0.95)} AS p95_before
  FROM m
  WHERE mean_before >= 0
  GROUP BY service_name, metric, peer, operation
)
SELECT m.service_name AS service_name, m.metric AS metric, m.peer AS peer, m.operation AS name, ${side('now', 'requests')} AS spans, ${side('now', 'failures')} AS errors, ${side('before', 'requests')} AS spans_before, ${side('before', 'failures')} AS errors_before, ${side('now', 'seconds')} AS seconds_now, ${side('before', 'seconds')} AS seconds_before, ${excess} AS excess_errors,
  count(mean_now) AS parts, count(mean_before) AS parts_before, ${write.countIf('m.mean_now > b.p95_before')} AS slow_parts
FROM m LEFT JOIN b ON b.service_name = m.service_name AND b.metric = m.metric AND b.peer = m.peer AND b.operation = m.operation
GROUP BY m.service_name, m.metric, m.peer, m.operation
ORDER BY floor(1000 * (${added})) DESC, floor(${excess}) DESC, m.service_name, m.metric, m.peer, m.operation
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: isLines
      ? 'Which log lines come later after the line before in their trace?'
      : 'Of which services do more requests fail or take longer, by their counters and histograms?',
    sql,
    window: range,
    judge(rows) {
      const worse = rows.map(read).filter((one) => one.worse || one.slower);
      return listed(worse.slice(0, 5).map(describe), 'None do.', rows.length > 0 ? 'refutes' : 'neutral');
    },
  });
  const counted = answer.map(read);
  const timed = counted.filter(({ peer, mean, meanBefore }) => peer === '' && mean + meanBefore > 0);
  return { ...finding, counted, timed: new Set(timed.map(({ service }) => service)) };
}

function read(row: Row): Counted {
  const change = readChange(row);
  const [parts, partsBefore] = [row.number('parts'), row.number('parts_before')];
  const [seconds, secondsBefore] = [row.number('seconds_now'), row.number('seconds_before')];
  const [mean, meanBefore] = [seconds / change.now.total || 0, secondsBefore / change.before.total || 0];
  const larger = meanBefore > 0 && mean >= leastTimes * meanBefore && mean - meanBefore >= leastSeconds;
  // One in twenty is beyond the 95th percentile, and of a handful one more.
  const unlikely = binomialTail(row.number('slow_parts'), parts, 0.05 + 1 / (partsBefore + 1));
  return {
    ...change,
    metric: row.text('metric'),
    peer: row.text('peer'),
    mean,
    meanBefore,
    seconds,
    secondsBefore,
    slower: larger && partsBefore >= fewestParts && unlikely <= byChance,
  };
}

export function describe(one: Counted): string {
  const { service, operation, metric, peer, now, before, worse, mean, meanBefore } = one;
  if (metric === 'lines') {
    return `${code(operation, 120)} of ${code(service, 60)} comes ${milliseconds(mean * 1e9)} after the line before in its trace (${milliseconds(meanBefore * 1e9)} before)`;
  }
  const asked = peer === '' ? code(operation || metric, 80) : `calling ${code(peer, 80)}`;
  const how = worse
    ? `fails ${percent(rate(now))} of ${Math.round(now.total)} (${percent(rate(before))} before)`
    : `takes ${milliseconds(mean * 1e9)} on average (${milliseconds(meanBefore * 1e9)} before)`;
  return `${code(service, 60)} ${asked} ${how}, by its ${metric === counters ? metric : code(metric, 80)}`;
}
