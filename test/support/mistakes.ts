import type { Engine } from './questions.ts';

export interface Mistake {
  readonly sql: string;
  /** Where it is one; everywhere if not said. */
  readonly engines?: readonly Engine[];
  /** Runs, and yields nothing: a warning has to say so. */
  readonly silent?: true;
}

const notClickhouse = ['duckdb', 'postgres'] as const;

/** What models write from habit, as seen in public reports and with real clients. */
export const mistakes: readonly Mistake[] = [
  { sql: 'SELECT `service_name` FROM otel.spans LIMIT 1', engines: notClickhouse },
  { sql: 'SELECT `service_name`, count(*) FROM `otel`.`spans` GROUP BY `service_name`', engines: notClickhouse },
  { sql: "SELECT count(*) FROM otel.spans WHERE attributes['http.response.status_code'] >= 500" },
  {
    sql: "SELECT count(*) FROM otel.spans AS s WHERE s.attributes['http.response.status_code'] = 500 AND s.kind = 'SERVER'",
    engines: ['postgres', 'clickhouse'],
  },
  { sql: 'SELECT attributes.http.route, count(*) FROM otel.spans GROUP BY 1' },
  { sql: "SELECT name FROM otel.spans WHERE name ~* 'get' LIMIT 5", engines: ['duckdb', 'clickhouse'] },
  { sql: "SELECT name FROM otel.spans WHERE name RLIKE 'GET.*' LIMIT 5", engines: notClickhouse },
  {
    sql: 'SELECT service_name, quantile(0.95)(duration_nano) FROM otel.spans GROUP BY service_name',
    engines: notClickhouse,
  },
  { sql: 'SELECT percentile(duration_nano, 95) FROM otel.spans' },
  { sql: 'SELECT count(*) FROM otel.spans WHERE time > DATE_SUB(NOW(), INTERVAL 1 HOUR)', engines: notClickhouse },
  { sql: 'SELECT count(*) FROM otel.spans WHERE time > DATEADD(hour, -1, GETDATE())' },
  {
    sql: 'SELECT count(*) FROM otel.spans WHERE time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)',
    engines: notClickhouse,
  },
  { sql: 'SELECT count(*) FROM otel.spans WHERE time > subtractHours(now(), 1)', engines: notClickhouse },
  { sql: "SELECT count(*) FROM otel.spans WHERE time > 'now-1h'" },
  { sql: "SELECT count(*) FROM otel.spans WHERE duration_nano > '500ms'" },
  { sql: 'SELECT TOP 5 name FROM otel.spans ORDER BY duration_nano DESC', engines: notClickhouse },
  { sql: 'SELECT name FROM otel.spans LIMIT 5, 10', engines: notClickhouse },
  { sql: "SELECT column_name FROM information_schema.columns WHERE table_name = 'spans'" },
  { sql: 'SELECT table_name FROM information_schema.tables' },
  { sql: 'SELECT count(*) FROM otel.spans WHERE status_code = "ERROR"' },
  { sql: 'SELECT count(*) FROM otel.spans WHERE status_code = 2' },
  { sql: 'SELECT count(*) FROM otel.spans WHERE kind = 2' },
  { sql: 'SELECT service FROM otel.spans LIMIT 1' },
  { sql: 'SELECT serviceName FROM otel.spans LIMIT 1' },
  { sql: 'SELECT avg(duration_ms) FROM otel.spans' },
  { sql: 'SELECT message FROM otel.logs LIMIT 1' },
  { sql: 'SELECT severity FROM otel.logs LIMIT 1' },
  { sql: 'SELECT metric_name FROM otel.metrics LIMIT 1' },
  { sql: 'SELECT timestamp FROM otel.logs LIMIT 1' },
  { sql: 'SELECT span_name FROM otel.spans LIMIT 1' },
  { sql: 'SELECT service_name FROM otel_traces LIMIT 1' },
  { sql: 'SELECT service_name FROM otel.traces LIMIT 1' },
  { sql: "SELECT count(*) FROM otel.spans WHERE status_code = 'STATUS_CODE_ERROR'", silent: true },
  { sql: "SELECT count(*) FROM otel.spans WHERE status_code = 'error'", silent: true },
  { sql: "SELECT count(*) FROM otel.spans WHERE status_code IN ('error', 'failed')", silent: true },
  { sql: "SELECT count(*) FROM otel.spans WHERE kind = 'SPAN_KIND_SERVER'", silent: true },
  { sql: "SELECT count(*) FROM otel.spans WHERE kind <> 'server'", silent: true },
  { sql: 'SELECT count(*) FROM otel.spans WHERE parent_span_id IS NULL', silent: true },
  { sql: "SELECT count(*) FROM otel.logs WHERE severity_text = 'error'", silent: true },
  { sql: "SELECT count(*) FROM otel.metrics WHERE type = 'Counter'", silent: true },
  {
    sql: "SELECT count(*) FROM otel.metrics WHERE aggregation_temporality = 'AGGREGATION_TEMPORALITY_DELTA'",
    silent: true,
  },
];
