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

/** Names longer than this are compared by their beginning: the comparison is quadratic. */
const comparedLength = 64;
const atMost = 3;

/** The candidates nearest to a misspelt name, best first, at most three; none when nothing is near. */
export function nearest(name: string, candidates: Iterable<string>): readonly string[] {
  const wanted = snakeCase(name.slice(0, comparedLength));
  const habitual = Object.hasOwn(habits, wanted) ? (habits[wanted] ?? []) : [];
  const scored: { readonly candidate: string; readonly score: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const known = habitual.indexOf(candidate);
    const score = known >= 0 ? 2 - known / 10 : similarity(wanted, snakeCase(candidate.slice(0, comparedLength)));
    if (score >= 0.5) scored.push({ candidate, score });
  }
  scored.sort((a, b) => b.score - a.score || compareText(a.candidate, b.candidate));
  return scored.slice(0, atMost).map(({ candidate }) => candidate);
}

/** `SpanName`, `spanName`, `span-name`, `span.name` and `"span name"` are all `span_name`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

/** 0 to 1: letters that agree, or words that agree, whichever says more. */
function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 0;
  const letters = 1 - editDistance(a, b) / longest;
  const wordsOfA = new Set(a.split('_'));
  const wordsOfB = new Set(b.split('_'));
  let shared = 0;
  for (const word of wordsOfA) if (wordsOfB.has(word)) shared += 1;
  const words = (2 * shared) / (wordsOfA.size + wordsOfB.size);
  return Math.min(0.99, Math.max(letters, words * 0.9, (letters + words) / 2));
}

/** Optimal string alignment: insert, delete, replace, or swap two neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(beforeLast, column - 2) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
