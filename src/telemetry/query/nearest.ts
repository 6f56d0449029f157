import { comparable, similarity } from '../../contract/core/spelling.ts';

/**
 * What models write from habit (the collector's ClickHouse exporter, Jaeger, log libraries) and what the column is called
 * here. Unknown columns are the first cause of failed calls elsewhere, and most of them are one of these.
 */
const habits: Readonly<Record<string, readonly string[]>> = {
  timestamp: ['time'],
  ts: ['time'],
  date: ['time'],
  timestamp_time: ['time'],
  observed_timestamp: ['observed_time'],
  start: ['start_time'],
  end: ['end_time'],
  start_time_unix_nano: ['start_time', 'time'],
  end_time_unix_nano: ['end_time'],
  time_unix_nano: ['time'],
  duration: ['duration_nano'],
  duration_ms: ['duration_nano'],
  duration_ns: ['duration_nano'],
  duration_us: ['duration_nano'],
  latency: ['duration_nano'],
  latency_ms: ['duration_nano'],
  elapsed: ['duration_nano'],
  span_name: ['name'],
  operation: ['name'],
  operation_name: ['name'],
  metric: ['name'],
  metric_name: ['name'],
  metric_type: ['type'],
  metric_unit: ['unit'],
  metric_description: ['description'],
  span_kind: ['kind'],
  status: ['status_code', 'status_message'],
  error: ['status_code', 'severity_text'],
  parent_id: ['parent_span_id'],
  service: ['service_name'],
  app: ['service_name'],
  env: ['deployment_environment'],
  environment: ['deployment_environment'],
  version: ['service_version'],
  message: ['body', 'status_message'],
  msg: ['body', 'status_message'],
  log: ['body'],
  level: ['severity_text', 'severity_number'],
  log_level: ['severity_text', 'severity_number'],
  severity: ['severity_text', 'severity_number'],
  tags: ['attributes'],
  labels: ['attributes'],
  span_attributes: ['attributes'],
  log_attributes: ['attributes'],
  metric_attributes: ['attributes'],
  resource: ['resource_attributes'],
  resources: ['resource_attributes'],
  scope: ['scope_name'],
  trace_flags: ['flags'],
  scope_schema_url: ['schema_url'],
  resource_schema_url: ['otlp_fields', 'schema_url'],
  dropped_attributes_count: ['otlp_fields'],
  dropped_events_count: ['otlp_fields'],
  dropped_links_count: ['otlp_fields'],
  value_int: ['as_int'],
  int_value: ['as_int'],
  exemplar: ['exemplars'],
  buckets: ['bucket_counts'],
  quantiles: ['quantile_values'],
  is_monotonic_sum: ['is_monotonic'],
  traces: ['spans'],
  trace: ['spans'],
  otel_traces: ['spans'],
  otel_spans: ['spans'],
  events: ['logs', 'spans'],
  log_records: ['logs'],
  otel_logs: ['logs'],
  otel_metrics: ['metrics'],
  datapoints: ['metrics'],
  data_points: ['metrics'],
};

const atMost = 3;

/** Functions of nearly the same letters: one that only shares a word does something else. */
export function nearestFunctions(name: string, functions: Iterable<string>): readonly string[] {
  const letters = (text: string) => comparable(text).replaceAll('_', '');
  const wanted = letters(name);
  return [...functions]
    .map((candidate) => ({ candidate, score: similarity(wanted, letters(candidate)) }))
    .filter(({ score }) => score >= 0.75)
    .toSorted((a, b) => b.score - a.score || compareText(a.candidate, b.candidate))
    .slice(0, atMost)
    .map(({ candidate }) => candidate);
}

/** The candidates nearest to a misspelt name, best first, at most three; none when nothing is near. */
export function nearest(name: string, candidates: Iterable<string>): readonly string[] {
  const wanted = comparable(name);
  const habitual = Object.hasOwn(habits, wanted) ? (habits[wanted] ?? []) : [];
  const scored: { readonly candidate: string; readonly score: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const known = habitual.indexOf(candidate);
    const score = known >= 0 ? 2 - known / 10 : similarity(wanted, comparable(candidate));
    if (score >= 0.5) scored.push({ candidate, score });
  }
  scored.sort((a, b) => b.score - a.score || compareText(a.candidate, b.candidate));
  return scored.slice(0, atMost).map(({ candidate }) => candidate);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
