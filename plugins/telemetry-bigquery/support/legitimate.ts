import type { LegitimateStatement } from '../../../test/contract/isolation.ts';
import { dialectOf } from '../dialect.ts';

const hour = 'time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)';
const day = 'time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 24 HOUR)';
const route = `JSON_VALUE(attributes, '$."http.route"')`;

/** What people and models ask of telemetry in GoogleSQL. */
export const legitimate: readonly LegitimateStatement[] = [
  // Counting and rates
  { columns: 1, sql: `SELECT COUNT(*) FROM otel.spans WHERE ${hour}` },
  {
    columns: 2,
    sql: `SELECT service_name, COUNT(*) AS n FROM otel.spans WHERE ${hour} GROUP BY service_name ORDER BY n DESC`,
  },
  {
    columns: 2,
    sql: `SELECT service_name, COUNT(DISTINCT trace_id) AS traces FROM otel.spans GROUP BY 1 ORDER BY 2 DESC LIMIT 10`,
  },
  { columns: 2, sql: `SELECT service_name, APPROX_COUNT_DISTINCT(trace_id) FROM otel.spans GROUP BY service_name` },
  {
    columns: 3,
    sql: `SELECT service_name, COUNTIF(status_code = 'ERROR') AS errors, SAFE_DIVIDE(COUNTIF(status_code = 'ERROR'), COUNT(*)) AS rate FROM otel.spans WHERE ${hour} GROUP BY service_name HAVING errors > 0`,
  },
  {
    columns: 2,
    sql: `SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, COUNT(*) / 60.0 AS rps FROM otel.spans WHERE kind = 'SERVER' AND ${hour} GROUP BY minute ORDER BY minute`,
  },
  {
    columns: 3,
    sql: `SELECT TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(time), 300) * 300) AS bucket, service_name, COUNT(*) AS n FROM otel.spans WHERE ${day} GROUP BY bucket, service_name ORDER BY bucket`,
  },
  {
    columns: 2,
    sql: `SELECT EXTRACT(HOUR FROM time) AS hour, COUNT(*) FROM otel.logs WHERE ${day} GROUP BY hour ORDER BY hour`,
  },
  {
    columns: 2,
    sql: `SELECT FORMAT_TIMESTAMP('%Y-%m-%d %H:%M', time) AS minute, COUNT(*) AS n FROM otel.logs GROUP BY minute`,
  },
  { columns: 2, sql: `SELECT DATE(time) AS day, COUNT(*) AS n FROM otel.logs GROUP BY day ORDER BY day DESC` },
  { columns: 2, sql: `SELECT DATETIME(time, 'Europe/Berlin') AS local, name FROM otel.spans LIMIT 5` },
  // Percentiles
  {
    columns: 4,
    sql: `SELECT service_name, APPROX_QUANTILES(duration_nano, 100)[OFFSET(50)] / 1e6 AS p50, APPROX_QUANTILES(duration_nano, 100)[OFFSET(95)] / 1e6 AS p95, APPROX_QUANTILES(duration_nano, 100)[OFFSET(99)] / 1e6 AS p99 FROM otel.spans WHERE ${hour} GROUP BY service_name`,
  },
  {
    columns: 2,
    sql: `SELECT name, PERCENTILE_CONT(duration_nano, 0.95) OVER (PARTITION BY name) AS p95 FROM otel.spans WHERE ${hour}`,
  },
  {
    columns: 3,
    sql: `SELECT name, AVG(duration_nano) / 1e6 AS avg_ms, STDDEV(duration_nano) / 1e6 AS sd_ms FROM otel.spans GROUP BY name ORDER BY avg_ms DESC LIMIT 20`,
  },
  { columns: 3, sql: `SELECT name, MIN(duration_nano), MAX(duration_nano) FROM otel.spans GROUP BY name` },
  {
    columns: 2,
    sql: `SELECT name, MAX_BY(trace_id, duration_nano) AS slowest FROM otel.spans WHERE ${hour} GROUP BY name`,
  },
  {
    columns: 2,
    sql: `WITH RECURSIVE tree(id, called, level) AS (SELECT span_id, name, 0 FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, s.name, t.level + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.id WHERE t.level < 20) SELECT level, count(*) FROM tree GROUP BY level`,
  },
  {
    columns: 2,
    sql: `WITH RECURSIVE tree AS (SELECT span_id, 0 AS depth FROM otel.spans WHERE parent_span_id = '' UNION ALL SELECT s.span_id, t.depth + 1 FROM otel.spans AS s JOIN tree AS t ON s.parent_span_id = t.span_id) SELECT depth, COUNT(*) FROM tree GROUP BY depth`,
  },
  // Attributes
  {
    columns: 2,
    sql: `SELECT ${route} AS route, COUNT(*) AS n FROM otel.spans WHERE kind = 'SERVER' GROUP BY route ORDER BY n DESC LIMIT 20`,
  },
  {
    columns: 2,
    sql: `SELECT trace_id, SAFE_CAST(JSON_VALUE(attributes, '$."http.response.status_code"') AS INT64) AS status FROM otel.spans WHERE SAFE_CAST(JSON_VALUE(attributes, '$."http.response.status_code"') AS INT64) >= 500`,
  },
  {
    columns: 2,
    sql: `SELECT JSON_VALUE(resource_attributes, '$."k8s.pod.name"') AS pod, COUNT(*) FROM otel.logs WHERE severity_number >= 17 GROUP BY pod`,
  },
  {
    columns: 1,
    sql: `SELECT DISTINCT key FROM otel.spans AS s CROSS JOIN UNNEST(JSON_KEYS(s.attributes, 1)) AS key ORDER BY key`,
  },
  {
    columns: 2,
    sql: `SELECT LAX_STRING(attributes['http.route']) AS route, TO_JSON_STRING(attributes) FROM otel.spans LIMIT 3`,
  },
  {
    columns: 2,
    sql: `SELECT JSON_TYPE(attributes), JSON_QUERY(attributes, '$."db.statement"') FROM otel.spans LIMIT 3`,
  },
  {
    columns: 2,
    sql: `SELECT name, attributes FROM otel.spans WHERE ${route} IS NOT NULL AND ${route} LIKE '/api/%' LIMIT 10`,
  },
  {
    columns: 1,
    sql: `SELECT COALESCE(${route}, 'none') FROM otel.spans WHERE REGEXP_CONTAINS(name, r'^(GET|POST) /') LIMIT 10`,
  },
  // Logs
  {
    columns: 4,
    sql: `SELECT time, service_name, severity_text, body FROM otel.logs WHERE severity_number >= 17 AND ${hour} ORDER BY time DESC LIMIT 50`,
  },
  {
    columns: 2,
    sql: `SELECT REGEXP_REPLACE(body, r'\\d+', '#') AS pattern, COUNT(*) AS n FROM otel.logs WHERE ${hour} GROUP BY pattern ORDER BY n DESC LIMIT 20`,
  },
  { columns: 2, sql: `SELECT time, body FROM otel.logs WHERE CONTAINS_SUBSTR(body, 'timeout') AND ${hour} LIMIT 100` },
  { columns: 2, sql: `SELECT time, body FROM otel.logs WHERE LOWER(body) LIKE '%connection refused%' LIMIT 100` },
  {
    columns: 1,
    sql: `SELECT REGEXP_EXTRACT(body, r'user=(\\w+)') AS user FROM otel.logs WHERE body LIKE '%user=%' LIMIT 10`,
  },
  { columns: 1, sql: `SELECT JSON_VALUE(SAFE.PARSE_JSON(body), '$.message') FROM otel.logs LIMIT 10` },
  { columns: 2, sql: `SELECT severity_text, COUNT(*) FROM otel.logs GROUP BY severity_text` },
  {
    columns: 3,
    sql: `SELECT service_name, ANY_VALUE(body) AS example, COUNT(*) AS n FROM otel.logs WHERE severity_number >= 17 GROUP BY service_name`,
  },
  {
    columns: 2,
    sql: `SELECT service_name, STRING_AGG(DISTINCT severity_text, ', ' ORDER BY severity_text) AS severities FROM otel.logs GROUP BY service_name`,
  },
  {
    columns: 1,
    sql: `SELECT SUBSTR(body, 1, 100) FROM otel.logs WHERE trace_id = '0af7651916cd43dd8448eb211c80319c' ORDER BY time`,
  },
  // Traces
  {
    columns: 5,
    sql: `SELECT span_id, parent_span_id, name, duration_nano / 1e6 AS ms, time FROM otel.spans WHERE trace_id = '0af7651916cd43dd8448eb211c80319c' ORDER BY time`,
  },
  {
    columns: 3,
    sql: `SELECT trace_id, COUNT(*) AS spans, MAX(duration_nano) / 1e6 AS ms FROM otel.spans WHERE ${hour} GROUP BY trace_id ORDER BY ms DESC LIMIT 10`,
  },
  {
    columns: 3,
    sql: `SELECT p.service_name AS caller, c.service_name AS callee, COUNT(*) AS calls FROM otel.spans AS c JOIN otel.spans AS p ON c.parent_span_id = p.span_id AND c.trace_id = p.trace_id WHERE c.service_name != p.service_name GROUP BY caller, callee ORDER BY calls DESC`,
  },
  {
    columns: 3,
    sql: `SELECT s.name, l.body, l.time FROM otel.spans AS s INNER JOIN otel.logs AS l USING (trace_id) WHERE s.status_code = 'ERROR' LIMIT 50`,
  },
  {
    columns: 2,
    sql: `SELECT s.name, COUNT(l.body) AS logs FROM otel.spans AS s LEFT JOIN otel.logs AS l ON l.span_id = s.span_id GROUP BY s.name`,
  },
  {
    columns: 2,
    sql: `SELECT e.name, COUNT(*) AS n FROM otel.spans AS s CROSS JOIN UNNEST(s.events) AS e GROUP BY e.name`,
  },
  {
    columns: 2,
    sql: `SELECT e.name, JSON_VALUE(e.attributes, '$."exception.type"') AS type FROM otel.spans AS s, UNNEST(s.events) AS e WHERE e.name = 'exception'`,
  },
  {
    // As the agent asks what failed spans say.
    columns: 1,
    sql: `SELECT COALESCE(NULLIF(status_message, ''), ${dialectOf([], 'flat').write.exception('events')}, '') AS said FROM otel.spans WHERE status_code = 'ERROR'`,
  },
  { columns: 2, sql: `SELECT s.trace_id, e.name FROM otel.spans AS s, s.events AS e LIMIT 10` },
  { columns: 2, sql: `SELECT name, ARRAY_LENGTH(events) AS n FROM otel.spans WHERE ARRAY_LENGTH(events) > 0` },
  {
    columns: 2,
    sql: `SELECT s.name, position FROM otel.spans AS s CROSS JOIN UNNEST(s.links) AS l WITH OFFSET AS position`,
  },
  {
    columns: 1,
    sql: `SELECT name FROM otel.spans WHERE EXISTS (SELECT 1 FROM UNNEST(events) AS e WHERE e.name = 'exception')`,
  },
  {
    columns: 1,
    sql: `SELECT ARRAY(SELECT e.name FROM UNNEST(events) AS e ORDER BY e.time LIMIT 5) FROM otel.spans LIMIT 10`,
  },
  { columns: 2, sql: `SELECT name, events[SAFE_OFFSET(0)].name AS first_event FROM otel.spans LIMIT 10` },
  // CTEs, subqueries, set operations
  {
    columns: 2,
    sql: `WITH errors AS (SELECT service_name, COUNT(*) AS n FROM otel.spans WHERE status_code = 'ERROR' GROUP BY service_name) SELECT service_name, n FROM errors WHERE n > 5`,
  },
  {
    columns: 3,
    sql: `WITH s AS (SELECT service_name, COUNT(*) AS spans FROM otel.spans GROUP BY service_name), l AS (SELECT service_name, COUNT(*) AS logs FROM otel.logs GROUP BY service_name) SELECT service_name, spans, logs FROM s FULL JOIN l USING (service_name)`,
  },
  {
    columns: 1,
    sql: `SELECT name FROM otel.spans WHERE duration_nano > (SELECT AVG(duration_nano) * 3 FROM otel.spans)`,
  },
  {
    columns: 1,
    sql: `SELECT DISTINCT service_name FROM otel.logs WHERE service_name NOT IN (SELECT service_name FROM otel.spans)`,
  },
  { columns: 1, sql: `SELECT service_name FROM otel.spans UNION DISTINCT SELECT service_name FROM otel.logs` },
  {
    columns: 2,
    sql: `SELECT 'spans' AS what, COUNT(*) AS n FROM otel.spans UNION ALL SELECT 'logs', COUNT(*) FROM otel.logs`,
  },
  { columns: 1, sql: `SELECT service_name FROM otel.spans EXCEPT DISTINCT SELECT service_name FROM otel.logs` },
  {
    columns: 2,
    sql: `SELECT * FROM (SELECT service_name, COUNT(*) AS n FROM otel.spans GROUP BY service_name) AS x WHERE n > 1`,
  },
  {
    columns: 2,
    sql: `WITH now_ AS (SELECT COUNT(*) AS n FROM otel.spans WHERE ${hour}), before AS (SELECT COUNT(*) AS n FROM otel.spans WHERE time BETWEEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 2 HOUR) AND TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)) SELECT now_.n, before.n AS was FROM now_ CROSS JOIN before`,
  },
  // Windows
  {
    columns: 3,
    sql: `SELECT time, name, LAG(time) OVER (PARTITION BY name ORDER BY time) AS previous FROM otel.spans LIMIT 100`,
  },
  {
    columns: 3,
    sql: `SELECT service_name, name, ROW_NUMBER() OVER (PARTITION BY service_name ORDER BY duration_nano DESC) AS rank FROM otel.spans QUALIFY rank <= 3`,
  },
  {
    columns: 3,
    sql: `SELECT minute, n, AVG(n) OVER (ORDER BY minute ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS moving FROM (SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, COUNT(*) AS n FROM otel.spans GROUP BY minute) AS x`,
  },
  {
    columns: 2,
    sql: `SELECT name, SUM(duration_nano) OVER w AS total FROM otel.spans WINDOW w AS (PARTITION BY service_name ORDER BY time)`,
  },
  {
    columns: 2,
    sql: `SELECT name, FIRST_VALUE(trace_id IGNORE NULLS) OVER (PARTITION BY name ORDER BY time) FROM otel.spans`,
  },
  { columns: 2, sql: `SELECT service_name, NTILE(4) OVER (ORDER BY duration_nano) AS quartile FROM otel.spans` },
  // Metrics
  {
    columns: 3,
    sql: `SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, service_name, AVG(value) AS value FROM otel.metrics WHERE name = 'process.cpu.utilization' AND ${hour} GROUP BY minute, service_name ORDER BY minute`,
  },
  {
    columns: 3,
    sql: `SELECT time, value, value - LAG(value) OVER (PARTITION BY service_name ORDER BY time) AS increase FROM otel.metrics WHERE name = 'http.server.requests' AND is_monotonic`,
  },
  {
    columns: 2,
    sql: `SELECT name, SUM(sum) / SUM(count) AS mean FROM otel.metrics WHERE type = 'histogram' GROUP BY name`,
  },
  {
    columns: 2,
    sql: `SELECT b AS bound, SUM(m.bucket_counts[SAFE_OFFSET(position)]) AS n FROM otel.metrics AS m CROSS JOIN UNNEST(m.explicit_bounds) AS b WITH OFFSET AS position WHERE m.name = 'http.server.duration' GROUP BY bound ORDER BY bound`,
  },
  { columns: 2, sql: `SELECT q.quantile, q.value FROM otel.metrics AS m CROSS JOIN UNNEST(m.quantile_values) AS q` },
  { columns: 3, sql: `SELECT DISTINCT name, type, unit FROM otel.metrics ORDER BY name` },
  // Expressions
  {
    columns: 2,
    sql: `SELECT CASE WHEN duration_nano > 1000000000 THEN 'slow' ELSE 'fast' END AS speed, COUNT(*) FROM otel.spans GROUP BY speed`,
  },
  { columns: 2, sql: `SELECT IF(status_code = 'ERROR', 1, 0) AS failed, name FROM otel.spans` },
  { columns: 1, sql: `SELECT STRUCT(service_name AS service, name AS operation) FROM otel.spans LIMIT 5` },
  { columns: 1, sql: `SELECT ARRAY_AGG(name ORDER BY duration_nano DESC LIMIT 5) FROM otel.spans` },
  {
    columns: 1,
    sql: `SELECT ARRAY_AGG(STRUCT(name, duration_nano) ORDER BY duration_nano DESC LIMIT 3) FROM otel.spans`,
  },
  {
    columns: 2,
    sql: `SELECT APPROX_TOP_COUNT(name, 10) AS names, APPROX_TOP_SUM(name, duration_nano, 5) AS longest FROM otel.spans`,
  },
  {
    columns: 1,
    sql: `SELECT TIMESTAMP_DIFF(end_time, start_time, MILLISECOND) AS ms FROM otel.spans WHERE time >= TIMESTAMP '2026-03-01 00:00:00+00' AND time < TIMESTAMP('2026-03-02')`,
  },
  {
    columns: 2,
    sql: `SELECT minute, COUNT(s.trace_id) AS n FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-03-01 00:00:00+00', TIMESTAMP '2026-03-01 01:00:00+00', INTERVAL 1 MINUTE)) AS minute LEFT JOIN otel.spans AS s ON TIMESTAMP_TRUNC(s.time, MINUTE) = minute GROUP BY minute`,
  },
  { columns: 2, sql: `SELECT TO_HEX(MD5(body)) AS fingerprint, COUNT(*) FROM otel.logs GROUP BY fingerprint` },
  { columns: 1, sql: `SELECT CONCAT(service_name, ': ', name) AS operation FROM otel.spans LIMIT 5` },
  { columns: 1, sql: `SELECT service_name || '/' || name FROM otel.spans LIMIT 5` },
  { columns: 2, sql: `SELECT SPLIT(name, '/')[SAFE_OFFSET(1)] AS part, COUNT(*) FROM otel.spans GROUP BY part` },
  {
    columns: 2,
    sql: `SELECT NET.HOST(JSON_VALUE(attributes, '$."url.full"')) AS host, COUNT(*) FROM otel.spans GROUP BY host`,
  },
  { columns: 2, sql: `SELECT service_name, COUNT(*) AS n FROM otel.spans GROUP BY ROLLUP(service_name)` },
  {
    columns: 2,
    sql: `SELECT service_name, COUNT(*) AS n FROM otel.spans WHERE service_name IN UNNEST(['a', 'b']) GROUP BY ALL`,
  },
  { columns: 29, sql: 'SELECT * EXCEPT (attributes) FROM otel.metrics LIMIT 1' },
  { columns: 1, sql: 'SELECT `service_name` FROM `otel.spans` LIMIT 1' },
  {
    columns: 2,
    sql: 'SELECT name, time FROM otel.spans WHERE name = "it\'s" -- a remark\n ORDER BY time DESC LIMIT 10 OFFSET 5',
  },
];
