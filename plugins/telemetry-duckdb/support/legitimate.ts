import type { LegitimateStatement } from '../../../test/contract/telemetry/legitimate.ts';

/** What people and models ask of telemetry, in DuckDB's dialect: with how many columns the answer has. */
const statements: readonly (readonly [columns: number, sql: string])[] = [
  // aggregates and percentiles
  [1, 'SELECT count(*) FROM otel.spans'],
  [2, 'SELECT service_name, count(*) AS n FROM otel.spans GROUP BY service_name ORDER BY n DESC'],
  [2, 'SELECT service_name, quantile_cont(duration_nano, 0.95) / 1e6 AS p95_ms FROM otel.spans GROUP BY ALL'],
  [1, 'SELECT quantile_cont(duration_nano, [0.5, 0.9, 0.99]) FROM otel.spans'],
  [1, 'SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_nano) FROM otel.spans'],
  [1, 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_nano DESC) FROM otel.spans'],
  [3, 'SELECT mode() WITHIN GROUP (ORDER BY name), median(duration_nano), mad(duration_nano) FROM otel.spans'],
  [
    3,
    'SELECT approx_quantile(duration_nano, 0.99), approx_count_distinct(trace_id), approx_top_k(name, 3) FROM otel.spans',
  ],
  [1, "SELECT count(*) FILTER (WHERE status_code = 'ERROR') * 100.0 / count(*) AS error_pct FROM otel.spans"],
  [
    3,
    "SELECT count_if(status_code = 'ERROR'), countif(kind = 'SERVER'), bool_or(status_code = 'ERROR') FROM otel.spans",
  ],
  [
    4,
    'SELECT name, arg_max(trace_id, duration_nano), max_by(span_id, duration_nano), arg_max(trace_id, duration_nano, 3) FROM otel.spans GROUP BY name',
  ],
  [
    4,
    'SELECT stddev(duration_nano), var_pop(duration_nano), corr(duration_nano, flags), regr_slope(duration_nano, flags) FROM otel.spans',
  ],
  [
    3,
    "SELECT string_agg(DISTINCT name, ', ' ORDER BY name), list(DISTINCT kind), array_agg(name ORDER BY time DESC)[1:3] FROM otel.spans",
  ],
  [1, 'SELECT histogram(severity_text) FROM otel.logs'],
  [3, 'SELECT kind, service_name, count(*) FROM otel.spans GROUP BY GROUPING SETS ((kind), (service_name), ())'],
  [4, 'SELECT kind, service_name, grouping(kind), count(*) FROM otel.spans GROUP BY ROLLUP (kind, service_name)'],
  [3, 'SELECT kind, status_code, count(*) FROM otel.spans GROUP BY CUBE (kind, status_code) HAVING count(*) > 0'],
  [1, 'SELECT DISTINCT service_name FROM otel.spans'],
  [2, 'SELECT DISTINCT ON (service_name) service_name, time FROM otel.logs ORDER BY service_name, time DESC'],
  [
    5,
    'SELECT any_value(name), first(name ORDER BY time), last(name ORDER BY time), entropy(kind), geomean(duration_nano) FROM otel.spans',
  ],
  // time
  [2, "SELECT time_bucket(INTERVAL '5 minutes', time) AS b, count(*) FROM otel.spans GROUP BY b ORDER BY b"],
  [2, "SELECT time_bucket(INTERVAL 5 MINUTE, time, TIMESTAMP '2026-01-01') AS b, count(*) FROM otel.spans GROUP BY 1"],
  [
    2,
    "SELECT date_trunc('minute', time) AS m, count(*) FROM otel.logs WHERE time > now() - INTERVAL '1 hour' GROUP BY m",
  ],
  [25, 'SELECT * FROM otel.spans WHERE time BETWEEN now()::TIMESTAMP - INTERVAL 1 DAY AND now()::TIMESTAMP'],
  [1, "SELECT time FROM otel.spans WHERE time >= '2020-01-01' AND time < TIMESTAMP '2099-01-01 00:00:00'"],
  [
    5,
    "SELECT extract('hour' FROM time), dayname(time), date_part('dow', time), epoch(time), epoch_ms(time) FROM otel.spans",
  ],
  [
    3,
    "SELECT strftime(time, '%Y-%m-%d %H:%M'), time::DATE, time AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Zurich' FROM otel.spans",
  ],
  [
    3,
    "SELECT date_diff('second', min(time), max(time)), age(max(time), min(time)), max(end_time) - min(start_time) FROM otel.spans",
  ],
  [
    6,
    "SELECT make_timestamp(2026, 1, 1, 0, 0, 0.0), to_timestamp(1700000000), current_date, current_timestamp, today(), INTERVAL 1 HOUR + INTERVAL '30 minutes'",
  ],
  [
    2,
    "SELECT b, count(s.time) FROM range(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-02', INTERVAL 1 HOUR) t(b) LEFT JOIN otel.spans s ON s.time >= b AND s.time < b + INTERVAL 1 HOUR GROUP BY b ORDER BY b",
  ],
  [
    1,
    "SELECT unnest(generate_series(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01 01:00:00', INTERVAL 10 MINUTE)) AS t",
  ],
  // attributes, lists, structs
  [2, "SELECT attributes['http.route'] AS route, count(*) FROM otel.spans GROUP BY route"],
  [1, "SELECT attributes->>'http.route' FROM otel.spans WHERE attributes['http.route'] IS NOT NULL"],
  [
    2,
    "SELECT TRY_CAST(attributes['http.response.status_code'] AS INTEGER) AS code, count(*) FROM otel.spans GROUP BY code HAVING code >= 500",
  ],
  [2, 'SELECT k, count(*) FROM (SELECT unnest(map_keys(attributes)) AS k FROM otel.spans) GROUP BY k ORDER BY 2 DESC'],
  [2, 'SELECT e.key, e.value FROM otel.spans s, unnest(map_entries(s.attributes)) AS t(e)'],
  [
    5,
    "SELECT map_keys(attributes), map_values(attributes), cardinality(attributes), map_contains(attributes, 'k'), map_extract(attributes, 'k') FROM otel.spans",
  ],
  [
    3,
    "SELECT s.trace_id, e.name, e.attributes['exception.message'] FROM otel.spans s, unnest(s.events) AS t(e) WHERE e.name = 'exception'",
  ],
  [3, 'SELECT len(events), events[1].name, events[1].attributes FROM otel.spans WHERE len(events) > 0'],
  [
    2,
    "SELECT list_filter(events, lambda e: e.name = 'exception'), list_transform(events, lambda e: e.name) FROM otel.spans",
  ],
  [
    3,
    'SELECT list_transform([1, 2, 3], lambda x, i: x * i), list_reduce([1, 2, 3], lambda a, b: a + b), [x + 1 FOR x IN [1, 2] IF x > 1]',
  ],
  [
    6,
    "SELECT {'a': 1, 'b': 'x'} AS s, struct_pack(a := 1), struct_extract({'a': 1}, 'a'), MAP {'k': 1}, [1, 2][1], (1, 2)",
  ],
  [
    4,
    'SELECT list_sum(bucket_counts), list_max(explicit_bounds), list_zip(bucket_counts, explicit_bounds), bucket_counts[1:2] FROM otel.metrics',
  ],
  [
    5,
    "SELECT list_aggregate([1, 2], 'sum'), flatten([[1], [2]]), list_contains([1], 1), list_sort([2, 1]), array_to_string([1, 2], ',')",
  ],
  // text
  [
    2,
    "SELECT regexp_replace(body, '[0-9]+', '#', 'g') AS pattern, count(*) FROM otel.logs GROUP BY pattern ORDER BY 2 DESC LIMIT 10",
  ],
  [
    3,
    "SELECT regexp_extract(body, 'order (\\d+)', 1), regexp_matches(body, 'time ?out'), regexp_extract_all(body, '\\d+') FROM otel.logs",
  ],
  [
    19,
    "SELECT * FROM otel.logs WHERE body ILIKE '%timeout%' OR body SIMILAR TO '.*refused.*' OR contains(body, 'x') OR body ~ '^a.*'",
  ],
  [
    10,
    "SELECT split_part(name, ' ', 1), upper(name), left(name, 3), length(name), replace(name, 'a', 'b'), trim(name), name || '!', position('a' IN name), substring(name FROM 1 FOR 2), concat_ws('-', name, kind) FROM otel.spans",
  ],
  [
    3,
    "SELECT json_extract_string(body, '$.level'), body::JSON->>'$.msg', json_valid(body) FROM otel.logs WHERE json_valid(body)",
  ],
  [
    6,
    "SELECT printf('%.2f ms', 1.5), format('{} {}', name, kind), lpad(name, 10, ' '), bar(10, 0, 100, 20), md5(name), hash(name) FROM otel.spans",
  ],
  [
    6,
    "SELECT string_split(name, '/'), starts_with(name, 'GET'), name LIKE 'GET%', name NOT LIKE '%x', name COLLATE NOCASE = 'get', jaro_winkler_similarity(name, 'GET') FROM otel.spans",
  ],
  // windows
  [
    2,
    'SELECT name, row_number() OVER (PARTITION BY service_name ORDER BY duration_nano DESC) AS r FROM otel.spans QUALIFY r <= 3',
  ],
  [
    4,
    'SELECT time, value, lag(value) OVER w, value - lag(value, 1, 0.0) OVER w AS delta FROM otel.metrics WINDOW w AS (PARTITION BY name ORDER BY time)',
  ],
  [
    2,
    "SELECT time, avg(value) OVER (PARTITION BY name ORDER BY time RANGE BETWEEN INTERVAL '5 minutes' PRECEDING AND CURRENT ROW) FROM otel.metrics",
  ],
  [
    4,
    'SELECT time, sum(value) OVER (ORDER BY time ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), ntile(4) OVER (ORDER BY value), rank() OVER (ORDER BY value DESC NULLS LAST) FROM otel.metrics',
  ],
  [
    3,
    'SELECT name, first_value(time IGNORE NULLS) OVER (PARTITION BY name ORDER BY time), quantile_cont(duration_nano, 0.9) OVER (PARTITION BY name) FROM otel.spans',
  ],
  // CTEs, joins, sets
  [
    1,
    'WITH slow AS (SELECT trace_id FROM otel.spans WHERE duration_nano > 1000) SELECT l.body FROM otel.logs l JOIN slow USING (trace_id)',
  ],
  [
    2,
    'WITH a AS MATERIALIZED (SELECT * FROM otel.spans), b AS (SELECT service_name, count(*) n FROM a GROUP BY ALL) SELECT * FROM b WHERE n > (SELECT avg(n) FROM b)',
  ],
  [
    2,
    "WITH RECURSIVE tree(id, called, level) AS (SELECT span_id, name, 0 FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, s.name, t.level + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.id WHERE t.level < 20) SELECT level, count(*) FROM tree GROUP BY level",
  ],
  [
    2,
    "WITH RECURSIVE tree AS (SELECT span_id, parent_span_id, name, 0 AS depth FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, s.parent_span_id, s.name, t.depth + 1 FROM otel.spans s JOIN tree t ON s.parent_span_id = t.span_id WHERE t.depth < 20) SELECT depth, count(*) FROM tree GROUP BY depth",
  ],
  [
    3,
    'SELECT p.service_name AS caller, c.service_name AS callee, count(*) FROM otel.spans p JOIN otel.spans c ON c.parent_span_id = p.span_id AND c.trace_id = p.trace_id WHERE p.service_name <> c.service_name GROUP BY ALL',
  ],
  [
    2,
    'SELECT l.body, m.value FROM otel.logs l ASOF JOIN otel.metrics m ON l.service_name = m.service_name AND l.time >= m.time',
  ],
  [
    2,
    'SELECT s.service_name, top.name FROM (SELECT DISTINCT service_name FROM otel.spans) s, LATERAL (SELECT name FROM otel.spans x WHERE x.service_name = s.service_name ORDER BY duration_nano DESC LIMIT 1) top',
  ],
  [
    1,
    'SELECT trace_id FROM otel.spans EXCEPT SELECT trace_id FROM otel.logs INTERSECT SELECT trace_id FROM otel.spans ORDER BY 1 LIMIT 5 OFFSET 0',
  ],
  [
    1,
    'SELECT service_name FROM otel.spans UNION SELECT service_name FROM otel.logs UNION ALL BY NAME SELECT service_name FROM otel.metrics',
  ],
  [
    25,
    "SELECT * FROM otel.spans s WHERE EXISTS (SELECT 1 FROM otel.logs l WHERE l.trace_id = s.trace_id) AND name NOT IN (SELECT name FROM otel.metrics) AND (name, kind) IN (('a', 'b'))",
  ],
  [1, 'SELECT s.name FROM otel.spans s SEMI JOIN otel.logs l USING (trace_id)'],
  [
    1,
    'SELECT a.name FROM otel.spans a FULL OUTER JOIN otel.logs b ON a.trace_id = b.trace_id LEFT JOIN otel.metrics c ON c.service_name = a.service_name CROSS JOIN (VALUES (1), (2)) v(x)',
  ],
  // shapes of statements
  [1, 'FROM otel.spans SELECT name LIMIT 3'],
  [19, 'FROM otel.logs'],
  [25, 'TABLE otel.spans'],
  [2, "VALUES (1, 'a'), (2, 'b')"],
  [2, 'SELECT otel.spans.name, spans.kind FROM otel.spans'],
  [23, 'SELECT * EXCLUDE (attributes, events) REPLACE (upper(name) AS name) FROM otel.spans'],
  [3, "SELECT COLUMNS('dur.*'), COLUMNS(c -> c LIKE 'trace%') FROM otel.spans"],
  [2, 'SELECT min(COLUMNS(*)) FROM (SELECT time, duration_nano FROM otel.spans)'],
  [
    2,
    "SELECT CASE WHEN duration_nano > 1e9 THEN 'slow' WHEN duration_nano > 1e8 THEN 'medium' ELSE 'fast' END AS speed, count(*) FROM otel.spans GROUP BY speed",
  ],
  [
    7,
    "SELECT CASE kind WHEN 'SERVER' THEN 1 ELSE 0 END, coalesce(NULL, 1), ifnull(NULL, 2), nullif(1, 1), if(true, 1, 2), greatest(1, 2), kind IS DISTINCT FROM 'x' FROM otel.spans",
  ],
  [
    4,
    "SELECT * FROM (PIVOT otel.spans ON status_code IN ('OK', 'ERROR', 'UNSET') USING count(*) GROUP BY service_name)",
  ],
  [
    3,
    'SELECT * FROM (UNPIVOT (SELECT service_name, duration_nano, flags FROM otel.spans) ON duration_nano, flags INTO NAME metric VALUE amount)',
  ],
  [25, 'SELECT * FROM otel.spans USING SAMPLE 10 ROWS'],
  [1, 'SELECT name FROM otel.spans TABLESAMPLE BERNOULLI(50%)'],
  [
    8,
    'SELECT name, duration_nano // 1000000 AS ms, duration_nano % 7, 2 ** 3, -duration_nano, duration_nano & 1, ~flags, 1::HUGEINT << 3 FROM otel.spans ORDER BY ALL',
  ],
  [
    1,
    'SELECT count(*) FROM otel.spans WHERE duration_nano > 12345678901234567 OR duration_nano < -99999999999999999999 OR duration_nano = 1e10 OR 0.1 + 0.2 = 0.3',
  ],
  [
    5,
    "SELECT 'it''s', E'a\\nb', $$dollar$$, 'ünïcødé 😀', name AS \"Quoted Näme\" FROM otel.spans -- comment\n/* and another */",
  ],
  [
    7,
    'SELECT round(avg(duration_nano) / 1e6, 2) AS ms, floor(1.5), ceil(1.2), log10(100), sqrt(2), abs(-1), trunc(1.7) FROM otel.spans',
  ],
  [
    7,
    "SELECT format_bytes(1024), formatReadableDecimalSize(1000), to_json({'a': 1}), typeof(now()), CAST('1' AS DECIMAL(10, 2)), '5 seconds'::INTERVAL, TRY(1 / 0)",
  ],
  [
    2,
    'SELECT time, name FROM otel.spans WHERE trace_id = (SELECT trace_id FROM otel.spans ORDER BY duration_nano DESC LIMIT 1) ORDER BY time',
  ],
  [25, 'SELECT * RENAME (name AS operation) FROM otel.spans'],
  [25, 'SELECT s.* EXCLUDE (s.events), l.body FROM otel.spans s JOIN otel.logs l USING (trace_id)'],
  [1, 'SELECT 1 LIMIT 10%'],
  [1, 'SELECT #1 FROM (SELECT 1) ORDER BY #1'],
  [1, 'SELECT unnest(attributes) FROM (SELECT map_entries(attributes) AS attributes FROM otel.spans)'],
  [
    2,
    "SELECT service_name, max(value) - min(value) AS rise FROM otel.metrics WHERE type = 'sum' AND is_monotonic AND aggregation_temporality = 'cumulative' GROUP BY service_name, attributes",
  ],
  [2, "SELECT quantile_values[1].quantile, quantile_values[1].value FROM otel.metrics WHERE type = 'summary'"],
  [2, 'SELECT links[1].trace_id, links[1].attributes FROM otel.spans'],
];

export const legitimate: readonly LegitimateStatement[] = statements.map(([columns, sql]) => ({ columns, sql }));
