import type { LegitimateStatement } from '../../../test/contract/telemetry/legitimate.ts';

/** What people and models ask of telemetry in ClickHouse's dialect, each with how many columns it answers. All must run. */
const statements: readonly (readonly [number, string])[] = [
  // aggregates and percentiles
  [1, 'SELECT count() FROM otel.spans'],
  [2, 'SELECT service_name, count(*) AS n FROM otel.spans GROUP BY service_name ORDER BY n DESC;'],
  [2, 'SELECT service_name, quantile(0.95)(duration_nano) / 1e6 AS p95_ms FROM otel.spans GROUP BY ALL'],
  [2, 'select service_name, quantiles(0.5, 0.9, 0.99)(duration_nano) from otel.spans group by service_name'],
  [
    3,
    'SELECT quantileTDigest(0.99)(duration_nano), quantileExactInclusive(0.5)(duration_nano), median(duration_nano) FROM otel.spans',
  ],
  [1, "SELECT round(100 * countIf(status_code = 'ERROR') / count(), 2) AS error_pct FROM otel.spans"],
  [
    2,
    "SELECT COUNT(*) FILTER (WHERE status_code = 'ERROR') AS errors, COUNT(DISTINCT trace_id) AS traces FROM otel.spans",
  ],
  [3, 'SELECT uniq(trace_id), uniqExact(service_name), uniqCombined(12)(span_id) FROM otel.spans'],
  [1, 'SELECT topK(3)(name) FROM otel.spans'],
  [2, 'SELECT name, argMax(trace_id, duration_nano) AS slowest FROM otel.spans GROUP BY name'],
  [
    5,
    'SELECT stddevPop(duration_nano), varSamp(duration_nano), corr(duration_nano, flags), skewPop(duration_nano), entropy(kind) FROM otel.spans',
  ],
  [2, 'SELECT groupArray(3)(name), groupUniqArray(kind) FROM otel.spans'],
  [1, 'SELECT histogram(5)(duration_nano) FROM otel.spans'],
  [
    2,
    "SELECT sumIf(duration_nano, kind = 'SERVER') AS busy, avgOrNullIf(duration_nano, kind = 'CLIENT') FROM otel.spans",
  ],
  [
    3,
    'SELECT kind, service_name, count() FROM otel.spans GROUP BY GROUPING SETS ((kind), (service_name), ()) ORDER BY ALL',
  ],
  [3, 'SELECT kind, service_name, count() FROM otel.spans GROUP BY ROLLUP(kind, service_name)'],
  [3, 'SELECT kind, status_code, count() AS n FROM otel.spans GROUP BY kind, status_code WITH CUBE HAVING n > 0'],
  [2, 'SELECT service_name, count() FROM otel.spans GROUP BY service_name WITH TOTALS'],
  [1, 'SELECT DISTINCT service_name FROM otel.spans ORDER BY service_name'],
  [2, 'SELECT DISTINCT ON (service_name) service_name, time FROM otel.logs ORDER BY service_name, time DESC'],
  [
    3,
    'SELECT service_name, name, duration_nano FROM otel.spans ORDER BY duration_nano DESC, span_id LIMIT 2 BY service_name LIMIT 10',
  ],
  [1, 'SELECT name FROM otel.spans ORDER BY duration_nano DESC, name LIMIT 5 WITH TIES'],
  // time
  [
    2,
    'SELECT toStartOfMinute(time) AS m, count() FROM otel.spans WHERE time >= now() - INTERVAL 1 HOUR GROUP BY m ORDER BY m',
  ],
  [
    2,
    'SELECT toStartOfInterval(time, INTERVAL 5 MINUTE) AS step, count() AS n FROM otel.logs GROUP BY step ORDER BY step',
  ],
  [
    2,
    'SELECT toStartOfInterval(time, toIntervalMinute(5)) AS step, countIf(severity_number >= 17) FROM otel.logs WHERE time > subtractHours(now(), 6) GROUP BY step ORDER BY step WITH FILL STEP INTERVAL 5 MINUTE',
  ],
  [
    2,
    "SELECT date_trunc('hour', time) AS h, count() FROM otel.spans WHERE time BETWEEN now() - INTERVAL 1 DAY AND now() GROUP BY h ORDER BY h",
  ],
  [
    1,
    "SELECT count() FROM otel.spans WHERE time >= '2020-01-01 00:00:00' AND time < toDateTime64('2099-01-01 00:00:00', 9, 'UTC')",
  ],
  [
    1,
    "SELECT count() FROM otel.spans WHERE time > parseDateTimeBestEffort('2020-01-01T00:00:00Z') AND toDate(time) <= today() + 1",
  ],
  [
    4,
    "SELECT toHour(time), toDayOfWeek(time), formatDateTime(time, '%Y-%m-%d %H:%i'), toUnixTimestamp(time) FROM otel.spans LIMIT 3",
  ],
  [2, 'SELECT dateDiff(second, min(time), max(time)) AS s, max(end_time) - min(start_time) AS d FROM otel.spans'],
  [2, 'SELECT EXTRACT(HOUR FROM time) AS h, count() FROM otel.spans GROUP BY h ORDER BY h'],
  [
    3,
    'WITH 300 AS step SELECT intDiv(toUnixTimestamp(time), step) * step AS t, count() AS n, n / step AS per_second FROM otel.spans GROUP BY t ORDER BY t',
  ],
  [1, "SELECT count() FROM otel.spans WHERE time > now() - INTERVAL '1 day' - INTERVAL '2 hours'"],
  [1, 'SELECT count() FROM otel.spans WHERE time > now() - INTERVAL +1 DAY'],
  // attributes, maps, arrays, tuples
  [
    2,
    "SELECT attributes['http.route'] AS route, count() FROM otel.spans WHERE attributes['http.route'] != '' GROUP BY route",
  ],
  [
    2,
    "SELECT toUInt16OrNull(attributes['http.response.status_code']) AS code, count() FROM otel.spans GROUP BY code HAVING code >= 100 OR code IS NULL",
  ],
  [
    1,
    "SELECT count() FROM otel.spans WHERE mapContains(attributes, 'http.route') AND has(mapKeys(attributes), 'http.route')",
  ],
  [2, 'SELECT arrayJoin(mapKeys(attributes)) AS k, count() FROM otel.spans GROUP BY k ORDER BY 2 DESC, k'],
  [
    2,
    'SELECT k, count() FROM otel.spans ARRAY JOIN mapKeys(attributes) AS k, mapValues(attributes) AS v GROUP BY k ORDER BY k',
  ],
  [
    3,
    "SELECT s.trace_id, e.name, e.attributes['exception.message'] FROM otel.spans AS s ARRAY JOIN s.events AS e WHERE e.name = 'exception'",
  ],
  [2, 'SELECT span_id, e.1 AS at FROM otel.spans LEFT ARRAY JOIN events AS e ORDER BY span_id, at LIMIT 5'],
  [3, 'SELECT length(events), events[1].name, events.name FROM otel.spans ORDER BY span_id LIMIT 5'],
  [
    2,
    "SELECT arrayFilter(e -> e.name = 'exception', events), arrayMap(e -> e.2, events) FROM otel.spans WHERE notEmpty(events)",
  ],
  [3, "SELECT arrayMap((x, i) -> x * i, [1, 2, 3], [4, 5, 6]), arraySum([1, 2]), arrayReduce('max', [1, 5, 2])"],
  [4, "SELECT map('a', 1)['a'], (1, 'x').2, tuple(1, 2).1, map('k', 1, 'l', 2)"],
  [
    3,
    'SELECT arraySum(bucket_counts), arrayMax(explicit_bounds), arrayZip(arraySlice(bucket_counts, 1, 2), arraySlice(explicit_bounds, 1, 2)) FROM otel.metrics WHERE length(explicit_bounds) >= 2',
  ],
  [2, "SELECT mapFilter((k, v) -> k LIKE 'http.%', attributes) AS http, length(http) FROM otel.spans"],
  // text and JSON
  [
    2,
    "SELECT replaceRegexpAll(body, '\\d+', '#') AS pattern, count() AS n FROM otel.logs GROUP BY pattern ORDER BY n DESC, pattern LIMIT 10",
  ],
  [3, "SELECT extract(body, 'order (\\d+)'), match(body, 'time ?out'), extractAll(body, '\\d+') FROM otel.logs"],
  [
    3,
    "SELECT time, service_name, body FROM otel.logs WHERE body ILIKE '%timeout%' OR positionCaseInsensitive(body, 'refused') > 0 OR hasToken(body, 'failed') ORDER BY time DESC LIMIT 50",
  ],
  [
    6,
    "SELECT splitByChar(' ', name)[1], upper(name), substring(name, 1, 3), replaceAll(name, 'a', 'b'), name || '!', concat(name, '-', kind) FROM otel.spans LIMIT 3",
  ],
  [
    3,
    "SELECT JSONExtractString(body, 'level'), JSONExtractInt(body, 'user', 'id'), JSONExtract(body, 'tags', 'Array(String)') FROM otel.logs WHERE isValidJSON(body)",
  ],
  [2, "SELECT JSON_VALUE(body, '$.level') AS level, count() FROM otel.logs GROUP BY level ORDER BY level"],
  [
    4,
    "SELECT formatReadableQuantity(count()), formatReadableTimeDelta(61), cityHash64('a'), hex(MD5('a')) FROM otel.spans",
  ],
  [2, "SELECT domain('https://a.example.com/x?y=1'), path(attributes['url.full']) FROM otel.spans LIMIT 1"],
  [1, 'SELECT "name" AS `the name` FROM otel.spans LIMIT 1'],
  [2, "SELECT 'it''s \\'quoted\\' \\\\ \\n', 'Zürich — ✓ 😀'"],
  // conditions and casts
  [
    3,
    "SELECT multiIf(duration_nano > 1e9, 'slow', duration_nano > 1e8, 'middling', 'fast') AS speed, if(kind = 'SERVER', 1, 0), kind = 'CLIENT' ? 'out' : 'in' FROM otel.spans",
  ],
  [
    2,
    "SELECT CASE WHEN status_code = 'ERROR' THEN 'bad' ELSE 'good' END AS verdict, count() FROM otel.spans GROUP BY verdict",
  ],
  [
    5,
    "SELECT CAST(duration_nano AS Float64), duration_nano::String, CAST('1', 'Nullable(UInt8)'), toFloat64(flags), 0.1::Decimal(9, 4) FROM otel.spans LIMIT 1",
  ],
  [3, "SELECT coalesce(value, 0), ifNull(sum, 0), nullIf(name, '') FROM otel.metrics"],
  [
    1,
    "SELECT count() FROM otel.spans WHERE kind IN ('SERVER', 'CLIENT') AND status_code NOT IN ('UNSET') AND NOT (duration_nano < 0 OR flags = 9)",
  ],
  [1, "SELECT count() FROM otel.spans WHERE (service_name, kind) IN (('shop', 'SERVER'), ('cart', 'CLIENT'))"],
  [1, "SELECT count() FROM otel.logs WHERE trace_id IN (SELECT trace_id FROM otel.spans WHERE status_code = 'ERROR')"],
  [3, "SELECT -1::String, +duration_nano, kind IN 'SERVER' FROM otel.spans LIMIT 1"],
  // windows
  [
    3,
    'SELECT service_name, time, row_number() OVER (PARTITION BY service_name ORDER BY time DESC, span_id) AS n FROM otel.spans QUALIFY n <= 2',
  ],
  [
    3,
    'SELECT m, n, n - lagInFrame(n, 1, 0) OVER (ORDER BY m ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS change FROM (SELECT toStartOfMinute(time) AS m, count() AS n FROM otel.spans GROUP BY m) ORDER BY m',
  ],
  [
    3,
    'SELECT m, n, avg(n) OVER w AS smooth FROM (SELECT toStartOfMinute(time) AS m, count() AS n FROM otel.spans GROUP BY m) AS t WINDOW w AS (ORDER BY m ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) ORDER BY m',
  ],
  [
    4,
    'SELECT name, time, value, value - lagInFrame(value) OVER (PARTITION BY name ORDER BY time) AS delta FROM otel.metrics WHERE is_monotonic ORDER BY name, time',
  ],
  [
    3,
    'SELECT service_name, quantile(0.9)(duration_nano) AS p90, rank() OVER (ORDER BY p90 DESC) FROM otel.spans GROUP BY service_name ORDER BY p90, service_name',
  ],
  // CTEs, subqueries, joins, unions
  [
    2,
    "WITH failed AS (SELECT * FROM otel.spans WHERE status_code = 'ERROR') SELECT service_name, count() FROM failed GROUP BY service_name",
  ],
  [
    2,
    "WITH RECURSIVE tree(id, called, level) AS (SELECT span_id, name, 0 FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, s.name, t.level + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.id WHERE t.level < 20) SELECT level, count(*) FROM tree GROUP BY level",
  ],
  [
    2,
    "WITH RECURSIVE tree AS (SELECT span_id, name, 0 AS depth FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, s.name, t.depth + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.span_id WHERE t.depth < 20) SELECT depth, count(*) FROM tree GROUP BY depth",
  ],
  [
    3,
    'WITH a AS (SELECT service_name, avg(duration_nano) AS mean FROM otel.spans GROUP BY service_name), b AS (SELECT max(mean) AS top FROM a) SELECT a.service_name, a.mean, a.mean / b.top FROM a CROSS JOIN b ORDER BY 1',
  ],
  [
    2,
    'WITH (SELECT avg(duration_nano) FROM otel.spans) AS mean SELECT name, count() FROM otel.spans WHERE duration_nano > 2 * mean GROUP BY name',
  ],
  [
    3,
    'SELECT s.name, p.name AS parent, count() FROM otel.spans AS s INNER JOIN otel.spans AS p ON p.span_id = s.parent_span_id AND p.trace_id = s.trace_id GROUP BY s.name, p.name',
  ],
  [
    3,
    "SELECT s.trace_id, s.name, l.body FROM otel.spans s LEFT JOIN otel.logs l ON l.trace_id = s.trace_id AND l.span_id = s.span_id WHERE s.status_code = 'ERROR'",
  ],
  [
    2,
    'SELECT service_name, l.n FROM (SELECT DISTINCT service_name FROM otel.spans) AS s LEFT JOIN (SELECT service_name, count() AS n FROM otel.logs GROUP BY service_name) AS l USING (service_name) ORDER BY service_name',
  ],
  [
    2,
    'SELECT l.body, m.value FROM otel.logs AS l ASOF LEFT JOIN otel.metrics AS m ON l.service_name = m.service_name AND l.time >= m.time',
  ],
  [1, 'SELECT s.span_id FROM otel.spans AS s LEFT ANTI JOIN otel.logs AS l ON l.span_id = s.span_id'],
  [
    2,
    "SELECT 'spans' AS signal, count() AS n FROM otel.spans UNION ALL SELECT 'logs', count() FROM otel.logs UNION ALL SELECT 'metrics', count() FROM otel.metrics",
  ],
  [1, 'SELECT service_name FROM otel.spans EXCEPT SELECT service_name FROM otel.logs'],
  [1, 'SELECT trace_id FROM otel.spans INTERSECT SELECT trace_id FROM otel.logs'],
  [2, 'SELECT number AS hour, (SELECT count() FROM otel.spans) AS n FROM numbers(3)'],
  [1, 'SELECT count() FROM otel.spans AS s WHERE s.duration_nano > (SELECT avg(duration_nano) FROM otel.spans)'],
  [1, 'SELECT otel.spans.name FROM otel.spans ORDER BY otel.spans.name LIMIT 1'],
  [24, 'SELECT * EXCEPT (links) FROM otel.spans LIMIT 2'],
  [25, 'SELECT * REPLACE (duration_nano / 1e6 AS duration_nano) FROM otel.spans LIMIT 2'],
  [25, 'SELECT s.* FROM otel.spans AS s LIMIT 2'],
  // rates and anomalies
  [
    3,
    "WITH per_minute AS (SELECT toStartOfMinute(time) AS m, countIf(status_code = 'ERROR') AS e FROM otel.spans GROUP BY m), stats AS (SELECT avg(e) AS mean, stddevPop(e) AS sd FROM per_minute) SELECT m, e, (e - mean) / nullIf(sd, 0) AS z FROM per_minute, stats ORDER BY m",
  ],
  [
    2,
    "SELECT name, max(value) - min(value) AS increase FROM otel.metrics WHERE type = 'sum' AND time > now() - toIntervalHour(1) GROUP BY name",
  ],
  [
    2,
    'SELECT service_name, simpleLinearRegression(toUnixTimestamp(time), duration_nano) FROM otel.spans GROUP BY service_name',
  ],
  [2, 'SELECT q.quantile, q.value FROM otel.metrics ARRAY JOIN quantile_values AS q'],
  [1, '/* who */ SELECT -- is slow\n max(duration_nano) FROM otel.spans -- ?'],
];

export const legitimate: readonly LegitimateStatement[] = statements.map(([columns, sql]) => ({ sql, columns }));
