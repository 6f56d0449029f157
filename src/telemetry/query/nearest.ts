import { comparable, similarity } from '../../contract/core/spelling.ts';
import { byNames } from '../../contract/telemetry/index.ts';

/**
 * What models write from habit (the collector's ClickHouse exporter, Jaeger, log libraries) and what the column is called
 * here. Unknown columns are the first cause of failed calls elsewhere, and most of them are one of these.
 */
const habits = byNames<readonly string[]>([
  [['time'], 'timestamp ts date timestamp_time time_unix_nano'],
  [['observed_time'], 'observed_timestamp'],
  [['start_time'], 'start'],
  [['start_time', 'time'], 'start_time_unix_nano'],
  [['end_time'], 'end end_time_unix_nano'],
  [['duration_nano'], 'duration duration_ms duration_ns duration_us latency latency_ms elapsed'],
  [['name'], 'span_name operation operation_name metric metric_name'],
  [['type'], 'metric_type'],
  [['unit'], 'metric_unit'],
  [['description'], 'metric_description'],
  [['kind'], 'span_kind'],
  [['status_code', 'status_message'], 'status'],
  [['status_code', 'severity_text'], 'error'],
  [['parent_span_id'], 'parent_id'],
  [['service_name'], 'service app'],
  [['deployment_environment'], 'env environment'],
  [['service_version'], 'version'],
  [['body', 'status_message'], 'message msg'],
  [['body'], 'log'],
  [['severity_text', 'severity_number'], 'level log_level severity'],
  [['attributes'], 'tags labels span_attributes log_attributes metric_attributes'],
  [['resource_attributes'], 'resource resources'],
  [['scope_name'], 'scope'],
  [['flags'], 'trace_flags'],
  [['schema_url'], 'scope_schema_url'],
  [['otlp_fields', 'schema_url'], 'resource_schema_url'],
  [['otlp_fields'], 'dropped_attributes_count dropped_events_count dropped_links_count'],
  [['as_int'], 'value_int int_value'],
  [['exemplars'], 'exemplar'],
  [['bucket_counts'], 'buckets'],
  [['quantile_values'], 'quantiles'],
  [['is_monotonic'], 'is_monotonic_sum'],
  [['spans'], 'traces trace otel_traces otel_spans'],
  [['logs', 'spans'], 'events'],
  [['logs'], 'log_records otel_logs'],
  [['metrics'], 'otel_metrics datapoints data_points'],
]);

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
  const habitual = habits[wanted] ?? [];
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
