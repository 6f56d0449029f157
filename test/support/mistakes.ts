import { z } from 'zod';

/**
 * What models write from habit: names of other schemas, functions of other dialects, spellings of other exporters. Seen in
 * public reports and with real clients. Where a dialect takes one as it is, its answer must hold something.
 */
export const mistakes: readonly string[] = [
  // Columns by the names of the Collector's exporters, of Jaeger, Datadog and log libraries.
  'SELECT service FROM otel.spans LIMIT 1',
  'SELECT serviceName FROM otel.spans LIMIT 1',
  'SELECT ServiceName, count(*) FROM otel.spans GROUP BY ServiceName',
  'SELECT service.name FROM otel.spans LIMIT 1',
  'SELECT avg(duration_ms) FROM otel.spans',
  'SELECT max(duration) FROM otel.spans',
  'SELECT max(Duration) / 1000000 FROM otel.spans',
  'SELECT name, latency_ms FROM otel.spans ORDER BY latency_ms DESC LIMIT 5',
  'SELECT avg(duration_us) FROM otel.spans',
  'SELECT avg(elapsed) FROM otel.spans',
  'SELECT message FROM otel.logs LIMIT 1',
  'SELECT msg FROM otel.logs LIMIT 1',
  'SELECT log FROM otel.logs LIMIT 1',
  'SELECT Body FROM otel.logs LIMIT 1',
  'SELECT severity FROM otel.logs LIMIT 1',
  'SELECT level, count(*) FROM otel.logs GROUP BY level',
  'SELECT SeverityText, count(*) FROM otel.logs GROUP BY SeverityText',
  'SELECT log_level FROM otel.logs LIMIT 1',
  'SELECT metric_name FROM otel.metrics LIMIT 1',
  'SELECT MetricName, avg(Value) FROM otel.metrics GROUP BY MetricName',
  'SELECT metric_type FROM otel.metrics LIMIT 1',
  'SELECT metric_unit FROM otel.metrics LIMIT 1',
  'SELECT timestamp FROM otel.logs LIMIT 1',
  'SELECT Timestamp, name FROM otel.spans LIMIT 1',
  'SELECT ts FROM otel.logs LIMIT 1',
  'SELECT date FROM otel.logs LIMIT 1',
  'SELECT l.timestamp, l.message FROM otel.logs l LIMIT 1',
  'SELECT max(timestamp) FROM otel.logs',
  'SELECT max(time_unix_nano) FROM otel.metrics',
  'SELECT min(start_time_unix_nano) FROM otel.spans',
  'SELECT observed_timestamp FROM otel.logs LIMIT 1',
  'SELECT span_name FROM otel.spans LIMIT 1',
  'SELECT SpanName, count(*) FROM otel.spans GROUP BY SpanName',
  'SELECT operation_name, count(*) FROM otel.spans GROUP BY operation_name',
  'SELECT operation, count(*) FROM otel.spans GROUP BY operation',
  'SELECT span_kind FROM otel.spans LIMIT 1',
  'SELECT SpanKind FROM otel.spans LIMIT 1',
  "SELECT count(*) FROM otel.spans WHERE status = 'ERROR'",
  "SELECT count(*) FROM otel.spans WHERE StatusCode = 'ERROR'",
  'SELECT traceId FROM otel.spans LIMIT 1',
  'SELECT TraceId, SpanId FROM otel.spans LIMIT 1',
  'SELECT parent_id FROM otel.spans ORDER BY parent_id DESC LIMIT 1',
  'SELECT ParentSpanId FROM otel.spans ORDER BY ParentSpanId DESC LIMIT 1',
  'SELECT tags FROM otel.spans LIMIT 1',
  'SELECT labels FROM otel.metrics LIMIT 1',
  'SELECT span_attributes FROM otel.spans LIMIT 1',
  "SELECT count(SpanAttributes['http.route']) FROM otel.spans",
  'SELECT ResourceAttributes FROM otel.logs LIMIT 1',
  'SELECT log_attributes FROM otel.logs LIMIT 1',
  'SELECT environment FROM otel.spans LIMIT 1',
  'SELECT version FROM otel.spans LIMIT 1',
  'SELECT ScopeName FROM otel.spans LIMIT 1',
  'SELECT http_route, count(*) FROM otel.spans GROUP BY http_route',
  'SELECT "http.route", count(*) FROM otel.spans GROUP BY 1',
  'SELECT http.route, count(*) FROM otel.spans GROUP BY 1',
  'SELECT host_name FROM otel.metrics LIMIT 1',
  "SELECT s.service, s.duration FROM otel.spans AS s WHERE s.status_code = 'ERROR' LIMIT 5",
  // Several at once.
  "SELECT serviceName, p95(duration_ms) FROM traces WHERE status = 'ERROR' AND timestamp > now() - 1h GROUP BY serviceName",
  'SELECT TOP 3 SpanName, count(*) FROM otel_traces GROUP BY SpanName',
  "SELECT message FROM logs WHERE level = 'ERROR' AND timestamp > DATE_SUB(NOW(), INTERVAL 1 HOUR) LIMIT 5, 10",
  'SELECT MetricName, percentile(Value, 95) FROM metrics GROUP BY MetricName',
  "SELECT service, countIf(status = 'ERROR') AS errors FROM spans GROUP BY service",
  // Tables.
  'SELECT service_name FROM otel_traces LIMIT 1',
  'SELECT service_name FROM otel.traces LIMIT 1',
  'SELECT service_name FROM traces LIMIT 1',
  'SELECT name FROM spans LIMIT 1',
  'SELECT body FROM logs LIMIT 1',
  'SELECT name FROM metrics LIMIT 1',
  'SELECT body FROM otel_logs LIMIT 1',
  'SELECT name FROM otel_metrics LIMIT 1',
  'SELECT name FROM otel.otel_spans LIMIT 1',
  'SELECT name FROM default.otel_traces LIMIT 1',
  'SELECT name FROM otel.metrics_gauge LIMIT 1',
  'SELECT name FROM otel_metrics_sum LIMIT 1',
  'SELECT name FROM telemetry.spans LIMIT 1',
  'SELECT name FROM otel.span LIMIT 1',
  'SELECT body FROM otel.log_records LIMIT 1',
  'SELECT count(*) FROM traces t JOIN logs l ON t.trace_id = l.trace_id',
  "SELECT column_name FROM information_schema.columns WHERE table_name = 'spans'",
  'SELECT table_name FROM information_schema.tables',
  "SELECT * FROM information_schema.tables WHERE table_schema = 'otel'",
  'SELECT name FROM system.tables',
  "SELECT * FROM pg_catalog.pg_tables WHERE schemaname = 'otel'",
  'SHOW COLUMNS FROM otel.spans',
  'SHOW TABLES FROM otel',
  'DESC otel.spans',
  'DESCRIBE TABLE otel.spans',
  'PRAGMA table_info(spans)',
  'SHOW CREATE TABLE otel.spans',
  'EXPLAIN SELECT count(*) FROM otel.spans',
  // Attributes.
  "SELECT count(*) FROM otel.spans WHERE attributes['http.response.status_code'] >= 500",
  "SELECT count(*) FROM otel.spans AS s WHERE s.attributes['http.response.status_code'] = 500 AND s.kind = 'SERVER'",
  "SELECT count(*) FROM otel.spans WHERE attributes->>'http.response.status_code' >= 500",
  "SELECT count(attributes->'http.route') FROM otel.spans",
  'SELECT attributes.http.route, count(*) FROM otel.spans GROUP BY 1',
  'SELECT attributes."http.route", count(*) FROM otel.spans GROUP BY 1',
  "SELECT attributes.http.route AS route, count(*) FROM otel.spans WHERE kind = 'SERVER' GROUP BY route",
  "SELECT max(JSON_EXTRACT(attributes, '$.http.route')) FROM otel.spans",
  "SELECT max(json_extract_string(attributes, 'http.route')) FROM otel.spans",
  "SELECT max(JSONExtractString(attributes, 'http.route')) FROM otel.spans",
  "SELECT max(JSON_VALUE(attributes, '$.http.route')) FROM otel.spans",
  "SELECT max(get_json_object(attributes, '$.http.route')) FROM otel.spans",
  "SELECT avg(attributes['http.response.status_code']) FROM otel.spans",
  "SELECT count(*) FROM otel.spans WHERE attributes['http.response.status_code']::int >= 500",
  'SELECT DISTINCT unnest(map_keys(attributes)) FROM otel.spans',
  'SELECT DISTINCT arrayJoin(mapKeys(attributes)) FROM otel.spans',
  'SELECT DISTINCT jsonb_object_keys(attributes) FROM otel.spans',
  'SELECT unnest(map_keys(attributes)) AS k, count(*) FROM otel.spans GROUP BY 1',
  "SELECT count(*) FROM otel.spans WHERE mapContains(attributes, 'http.route')",
  "SELECT count(*) FROM otel.spans WHERE attributes ? 'http.route'",
  "SELECT count(*) FROM otel.spans WHERE has(attributes, 'http.route')",
  // Quotes and syntax of elsewhere.
  'SELECT `service_name` FROM otel.spans LIMIT 1',
  'SELECT `service_name`, count(*) FROM `otel`.`spans` GROUP BY `service_name`',
  'SELECT [service_name] FROM otel.spans LIMIT 1',
  'SELECT count(*) FROM otel.spans WHERE status_code = "ERROR"',
  'SELECT count(*) FROM otel.spans WHERE service_name = "payment" AND kind = "SERVER"',
  'SELECT TOP 5 name FROM otel.spans ORDER BY duration_nano DESC',
  'SELECT name FROM otel.spans LIMIT 5, 10',
  'SELECT name FROM otel.spans FETCH FIRST 5 ROWS ONLY',
  'SELECT name FROM otel.spans SAMPLE 0.5 LIMIT 5',
  'SELECT name FROM otel.spans; SELECT body FROM otel.logs',
  'SELECT service_name, name FROM otel.spans GROUP BY service_name',
  'SELECT service_name, count(*) AS n FROM otel.spans WHERE count(*) > 10 GROUP BY service_name',
  'SELECT service_name, count(*) AS n FROM otel.spans GROUP BY service_name HAVING n > 10',
  'SELECT service_name, count(*) c FROM otel.spans GROUP BY 1 ORDER BY count DESC',
  "SELECT count(*) FROM otel.spans WHERE service_name == 'payment'",
  "SELECT service_name + ':' + name FROM otel.spans LIMIT 5",
  'SELECT name FROM otel.spans FINAL LIMIT 5',
  'SELECT name FROM otel.spans LIMIT 5 FORMAT JSON',
  "SELECT name FROM otel.spans PREWHERE kind = 'SERVER' LIMIT 5",
  'SELECT count(*) FROM otel.spans WHERE duration_nano > 1ms',
  "SELECT multiIf(kind = 'SERVER', 1, kind = 'CLIENT', 2, 3) AS k, count(*) FROM otel.spans GROUP BY 1",
  // Regular expressions and texts.
  "SELECT name FROM otel.spans WHERE name ~* 'get' LIMIT 5",
  "SELECT name FROM otel.spans WHERE name ~ 'GET' LIMIT 5",
  "SELECT name FROM otel.spans WHERE name RLIKE 'GET.*' LIMIT 5",
  "SELECT name FROM otel.spans WHERE name REGEXP 'GET.*' LIMIT 5",
  "SELECT name FROM otel.spans WHERE name !~ 'GET' LIMIT 5",
  "SELECT name FROM otel.spans WHERE match(name, 'GET') LIMIT 5",
  "SELECT name FROM otel.spans WHERE REGEXP_CONTAINS(name, r'GET') LIMIT 5",
  "SELECT name FROM otel.spans WHERE regexp_like(name, 'GET') LIMIT 5",
  "SELECT name FROM otel.spans WHERE name ILIKE '%get%' LIMIT 5",
  "SELECT count(*) FROM otel.logs WHERE contains(body, 'a')",
  "SELECT count(*) FROM otel.logs WHERE body CONTAINS 'a'",
  "SELECT count(*) FROM otel.logs WHERE positionCaseInsensitive(body, 'a') > 0",
  "SELECT count(*) FROM otel.logs WHERE strpos(body, 'a') > 0",
  'SELECT service_name, group_concat(name) FROM otel.spans GROUP BY service_name',
  "SELECT service_name, string_agg(DISTINCT name, ', ') FROM otel.spans GROUP BY service_name",
  'SELECT service_name, groupUniqArray(name) FROM otel.spans GROUP BY service_name',
  'SELECT service_name, array_agg(DISTINCT name) FROM otel.spans GROUP BY service_name',
  // Aggregates.
  'SELECT service_name, quantile(0.95)(duration_nano) FROM otel.spans GROUP BY service_name',
  'SELECT percentile(duration_nano, 95) FROM otel.spans',
  'SELECT approx_percentile(duration_nano, 0.95) FROM otel.spans',
  'SELECT p95(duration_nano) FROM otel.spans',
  'SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_nano) FROM otel.spans',
  'SELECT APPROX_QUANTILES(duration_nano, 100)[OFFSET(95)] FROM otel.spans',
  'SELECT quantile_cont(duration_nano, 0.95) FROM otel.spans',
  'SELECT median(duration_nano) FROM otel.spans',
  "SELECT countIf(status_code = 'ERROR') FROM otel.spans",
  "SELECT count_if(status_code = 'ERROR') FROM otel.spans",
  "SELECT COUNTIF(status_code = 'ERROR') / COUNT(*) FROM otel.spans",
  "SELECT sumIf(1, status_code = 'ERROR') FROM otel.spans",
  "SELECT avgIf(duration_nano, kind = 'SERVER') FROM otel.spans",
  "SELECT count(*) FILTER (WHERE status_code = 'ERROR') FROM otel.spans",
  'SELECT uniq(trace_id) FROM otel.spans',
  'SELECT uniqExact(trace_id) FROM otel.spans',
  'SELECT approx_count_distinct(trace_id) FROM otel.spans',
  'SELECT COUNT DISTINCT trace_id FROM otel.spans',
  'SELECT argMax(name, duration_nano) FROM otel.spans',
  'SELECT arg_max(name, duration_nano) FROM otel.spans',
  'SELECT max_by(name, duration_nano) FROM otel.spans',
  'SELECT any(name) FROM otel.spans',
  'SELECT any_value(name) FROM otel.spans',
  'SELECT SAFE_DIVIDE(sum(duration_nano), count(*)) FROM otel.spans',
  "SELECT IF(status_code = 'ERROR', 1, 0) AS failed, count(*) FROM otel.spans GROUP BY 1",
  "SELECT IIF(status_code = 'ERROR', 1, 0) AS failed, count(*) FROM otel.spans GROUP BY 1",
  "SELECT sum(status_code = 'ERROR') FROM otel.spans",
  "SELECT IFNULL(service_name, '-'), count(*) FROM otel.spans GROUP BY 1",
  "SELECT NVL(service_name, '-'), count(*) FROM otel.spans GROUP BY 1",
  'SELECT toFloat64(duration_nano) / 1e6 FROM otel.spans LIMIT 1',
  'SELECT CAST(duration_nano AS FLOAT) / 1e6 FROM otel.spans LIMIT 1',
  // Time.
  'SELECT count(*) FROM otel.spans WHERE time > DATE_SUB(NOW(), INTERVAL 1 HOUR)',
  'SELECT count(*) FROM otel.spans WHERE time > DATEADD(hour, -1, GETDATE())',
  'SELECT count(*) FROM otel.spans WHERE time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)',
  'SELECT count(*) FROM otel.spans WHERE time > subtractHours(now(), 1)',
  "SELECT count(*) FROM otel.spans WHERE time > now() - INTERVAL '1 hour'",
  'SELECT count(*) FROM otel.spans WHERE time > now() - INTERVAL 1 HOUR',
  "SELECT count(*) FROM otel.spans WHERE time > 'now-1h'",
  "SELECT count(*) FROM otel.spans WHERE time > now() - '1h'",
  'SELECT count(*) FROM otel.spans WHERE time > now() - 1h',
  'SELECT count(*) FROM otel.spans WHERE time > ago(1h)',
  "SELECT count(*) FROM otel.spans WHERE time > datetime('now', '-1 hour')",
  'SELECT count(*) FROM otel.spans WHERE time > SYSDATE - 1',
  'SELECT count(*) FROM otel.spans WHERE time > toDateTime(now() - 3600)',
  'SELECT count(*) FROM otel.spans WHERE time > CURRENT_TIMESTAMP - INTERVAL 1 DAY',
  'SELECT count(*) FROM otel.spans WHERE time > UNIX_TIMESTAMP() - 3600',
  'SELECT count(*) FROM otel.spans WHERE time > 1700000000',
  'SELECT count(*) FROM otel.spans WHERE time > 1700000000000',
  'SELECT count(*) FROM otel.spans WHERE toUnixTimestamp(time) > 1700000000',
  'SELECT count(*) FROM otel.spans WHERE extract(epoch FROM time) > 1700000000',
  'SELECT toStartOfMinute(time) AS minute, count(*) FROM otel.spans GROUP BY minute',
  'SELECT toStartOfInterval(time, INTERVAL 5 MINUTE) AS t, count(*) FROM otel.spans GROUP BY t',
  'SELECT toStartOfFiveMinutes(time) AS t, count(*) FROM otel.spans GROUP BY t',
  "SELECT date_trunc('minute', time) AS minute, count(*) FROM otel.spans GROUP BY 1",
  'SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, count(*) FROM otel.spans GROUP BY minute',
  "SELECT time_bucket('5 minutes', time) AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT time_bucket(INTERVAL '5 minutes', time) AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT date_bin('5 minutes', time, timestamp '2000-01-01') AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT DATE_FORMAT(time, '%H:%i') AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT formatDateTime(time, '%H:%i') AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT to_char(time, 'HH24:MI') AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT strftime(time, '%H:%M') AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT strftime('%H:%M', time) AS t, count(*) FROM otel.spans GROUP BY t",
  "SELECT FORMAT_TIMESTAMP('%H:%M', time) AS t, count(*) FROM otel.spans GROUP BY t",
  'SELECT bin(time, 5m) AS t, count(*) FROM otel.spans GROUP BY t',
  'SELECT hour(time) AS h, count(*) FROM otel.spans GROUP BY h',
  'SELECT toHour(time) AS h, count(*) FROM otel.spans GROUP BY h',
  "SELECT date_part('hour', time) AS h, count(*) FROM otel.spans GROUP BY h",
  'SELECT EXTRACT(HOUR FROM time) AS h, count(*) FROM otel.spans GROUP BY h',
  "SELECT dateDiff('second', min(time), max(time)) FROM otel.spans",
  'SELECT TIMESTAMP_DIFF(max(time), min(time), SECOND) FROM otel.spans',
  'SELECT datediff(second, min(time), max(time)) FROM otel.spans',
];

/** Values of the right type that no row has, and conditions that mean something else: valid, and wrong without a word. */
export const wrongValues: readonly string[] = [
  "SELECT count(*) FROM otel.spans WHERE duration_nano > '500ms'",
  "SELECT count(*) FROM otel.spans WHERE duration_nano > INTERVAL '1 millisecond'",
  'SELECT count(*) FROM otel.spans WHERE status_code = 2',
  'SELECT count(*) FROM otel.spans WHERE status_code >= 2',
  'SELECT count(*) FROM otel.spans WHERE kind = 2',
  "SELECT count(*) FROM otel.spans WHERE status_code = 'STATUS_CODE_ERROR'",
  "SELECT count(*) FROM otel.spans WHERE status_code = 'error'",
  "SELECT count(*) FROM otel.spans WHERE status_code = 'Error'",
  "SELECT count(*) FROM otel.spans WHERE status_code IN ('error', 'failed')",
  "SELECT count(*) FROM otel.spans WHERE status_code LIKE '%rror'",
  "SELECT count(*) FROM otel.spans WHERE kind = 'SPAN_KIND_SERVER'",
  "SELECT count(*) FROM otel.spans WHERE kind <> 'server'",
  "SELECT count(*) FROM otel.spans WHERE name ~ 'checkout'",
  "SELECT count(*) FROM otel.spans WHERE kind LIKE 'Serv%'",
  'SELECT count(*) FROM otel.spans WHERE parent_span_id IS NULL',
  "SELECT count(*) FROM otel.spans WHERE parent_span_id = '0000000000000000'",
  "SELECT count(*) FROM otel.logs WHERE severity_text = 'error'",
  "SELECT count(*) FROM otel.logs WHERE severity_text IN ('error', 'fatal')",
  'SELECT count(*) FROM otel.logs WHERE severity_number = 500',
  "SELECT count(*) FROM otel.logs WHERE severity_number = 'INFO'",
  "SELECT count(*) FROM otel.spans WHERE trace_id = '4BF92F3577B34DA6A3CE929D0E0E4736'",
  "SELECT count(*) FROM otel.metrics WHERE type = 'Counter'",
  "SELECT count(*) FROM otel.metrics WHERE type = 'Gauge'",
  "SELECT count(*) FROM otel.metrics WHERE aggregation_temporality = 'AGGREGATION_TEMPORALITY_CUMULATIVE'",
  "SELECT sum(CASE WHEN status_code = 'error' THEN 1 ELSE 0 END) FROM otel.spans",
  'SELECT count(*) FROM otel.spans WHERE is_error',
  'SELECT count(*) FROM otel.spans WHERE error = true',
];

const failure = z.object({
  message: z.string(),
  hint: z.string().default(''),
  retry: z.object({ sql: z.string() }).partial().optional(),
});
const answered = z.object({ rows: z.array(z.array(z.unknown())), warnings: z.array(z.string()) });

/** The next call of somebody who does what the answer says, to the letter; undefined where it says nothing to do. */
function followed(sql: string, text: string): string | undefined {
  const { message, hint, retry } = failure.parse(JSON.parse(text));
  if (retry?.sql !== undefined) return retry.sql;
  const wrong = /"([^"]+)"/.exec(message)?.[1];
  const right = /[Dd]id you mean ([\w.]+)/.exec(hint)?.[1];
  if (wrong === undefined || right === undefined) return undefined;
  const next = sql.replaceAll(
    new RegExp(String.raw`(?<![\w.])${wrong.replaceAll(/\W/g, String.raw`\$&`)}(?!\w)`, 'gi'),
    right,
  );
  return next === sql ? undefined : next;
}

export type Outcome = 'works' | 'warned' | 'mended' | 'not mended' | 'silent';

interface Judged {
  readonly outcome: Outcome;
  /** The statement that did it, or what was answered. */
  readonly said: string;
}

export interface Answer {
  readonly isError: boolean;
  readonly structured: unknown;
  readonly text: string;
}

/** What a model meets that sends this and then does what it is told. */
export async function outcomeOf(call: (sql: string) => Promise<Answer>, sql: string): Promise<Judged> {
  const first = await call(sql);
  if (!first.isError) return judged('works', first.structured, sql);
  const next = followed(sql, first.text);
  if (next === undefined) return { outcome: 'not mended', said: first.text };
  const second = await call(next);
  if (!second.isError) return judged('mended', second.structured, next);
  return { outcome: 'not mended', said: `${first.text}\n${next}\n${second.text}` };
}

/** Nothing, or nothing but zeros, without a word about it. */
function judged(outcome: 'works' | 'mended', structured: unknown, sql: string): Judged {
  const { rows, warnings } = answered.parse(structured);
  if (warnings.some((warning) => warning.includes('Write '))) return { outcome: 'warned', said: warnings.join(' ') };
  const holds = rows.some((row) => row.some((cell) => cell !== null && cell !== '' && Number(cell) !== 0));
  return holds ? { outcome, said: sql } : { outcome: 'silent', said: `${sql} ${JSON.stringify(rows)}` };
}

/** Of a hundred mistakes at least ninety-five are mended, and none is answered wrong without a word. */
export function expectMended(engine: string, found: ReadonlyMap<Outcome, readonly string[]>): void {
  const of = (outcome: Outcome) => found.get(outcome) ?? [];
  const [silent, notMended] = [of('silent'), of('not mended')];
  const made = of('mended').length + of('warned').length + silent.length + notMended.length;
  process.stderr.write(
    `${engine}: of ${made} mistakes ${of('mended').length} mended, ${of('warned').length} warned of, ${notMended.length} not mended, ${silent.length} answered wrong; ${of('works').length} are none there\n`,
  );
  if (silent.length > 0) throw new Error(`answered with nothing, and without a word:\n${silent.join('\n')}`);
  if (made < 100) throw new Error(`${made} mistakes are no hundred`);
  if (notMended.length > made * 0.05) throw new Error(`not mended: ${notMended.length}\n${notMended.join('\n')}`);
}
