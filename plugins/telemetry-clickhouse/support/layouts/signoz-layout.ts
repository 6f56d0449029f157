import { logs, points, resourceOf, spans } from './telemetry.ts';

const maps = `attributes_string Map(LowCardinality(String), String), attributes_number Map(LowCardinality(String), Float64),
  attributes_bool Map(LowCardinality(String), Bool), resources_string Map(LowCardinality(String), String)`;
const granularity = 'SETTINGS index_granularity = 64, ttl_only_drop_parts = 1';

export const signozTables: readonly string[] = [
  'CREATE DATABASE signoz_traces',
  'CREATE DATABASE signoz_logs',
  'CREATE DATABASE signoz_metrics',
  `CREATE TABLE signoz_traces.signoz_index_v3 (
    ts_bucket_start UInt64 CODEC(DoubleDelta, LZ4), resource_fingerprint String, timestamp DateTime64(9) CODEC(DoubleDelta, LZ4),
    trace_id FixedString(32), span_id String, trace_state String, parent_span_id String, flags UInt32,
    name LowCardinality(String), kind Int8, kind_string String, duration_nano UInt64, status_code Int16,
    status_message String, status_code_string String, ${maps}, events Array(String), links String, has_error Bool,
    \`resource_string_service$$name\` LowCardinality(String) DEFAULT resources_string['service.name'],
    INDEX idx_trace_id trace_id TYPE tokenbf_v1(10000, 5, 0) GRANULARITY 1,
    INDEX idx_timestamp timestamp TYPE minmax GRANULARITY 1
  ) ENGINE = MergeTree PARTITION BY toDate(timestamp)
  ORDER BY (ts_bucket_start, resource_fingerprint, has_error, name, timestamp) ${granularity}`,
  `CREATE TABLE signoz_logs.logs_v2 (
    ts_bucket_start UInt64 CODEC(DoubleDelta, LZ4), resource_fingerprint String, timestamp UInt64 CODEC(DoubleDelta, LZ4),
    observed_timestamp UInt64, id String, trace_id String, span_id String, trace_flags UInt32,
    severity_text LowCardinality(String), severity_number UInt8, body String, ${maps},
    scope_name String, scope_version String, scope_string Map(LowCardinality(String), String),
    _retention_days UInt16 MATERIALIZED 15
  ) ENGINE = MergeTree PARTITION BY (toDate(timestamp / 1000000000), _retention_days)
  ORDER BY (ts_bucket_start, resource_fingerprint, severity_text, timestamp, id) ${granularity}`,
  `CREATE TABLE signoz_metrics.samples_v4 (
    env LowCardinality(String) DEFAULT 'default', temporality LowCardinality(String) DEFAULT 'Unspecified',
    metric_name LowCardinality(String), fingerprint UInt64, unix_milli Int64 CODEC(DoubleDelta, ZSTD(1)), value Float64
  ) ENGINE = MergeTree PARTITION BY toDate(unix_milli / 1000)
  ORDER BY (env, temporality, metric_name, fingerprint, unix_milli) ${granularity}`,
  `CREATE TABLE signoz_metrics.time_series_v4 (
    env LowCardinality(String) DEFAULT 'default', temporality LowCardinality(String) DEFAULT 'Unspecified',
    metric_name LowCardinality(String), description LowCardinality(String), unit LowCardinality(String),
    type LowCardinality(String), is_monotonic Bool, fingerprint UInt64, unix_milli Int64, labels String,
    attrs Map(LowCardinality(String), String), scope_attrs Map(LowCardinality(String), String),
    resource_attrs Map(LowCardinality(String), String)
  ) ENGINE = ReplacingMergeTree PARTITION BY toDate(unix_milli / 1000)
  ORDER BY (env, temporality, metric_name, fingerprint, unix_milli)`,
];

const seconds = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1000;
const bucket = (time: string) => Math.floor(seconds(time) / 1800) * 1800;

export function signozRows(): Readonly<Record<string, readonly object[]>> {
  const attributes = ({ attributes: given, ...record }: { attributes: object; tenant: string; service: string }) => ({
    attributes_string: given,
    resources_string: resourceOf(record),
    resource_fingerprint: `${record.tenant}/${record.service}`,
  });
  const series = new Map<string, number>();
  const fingerprint = (key: string) => {
    const known = series.get(key) ?? series.size + 1;
    series.set(key, known);
    return known;
  };
  const scalar = points.filter(({ type }) => type === 'gauge' || type === 'sum');
  return {
    'signoz_traces.signoz_index_v3': Array.from(spans, (span) => ({
      ts_bucket_start: bucket(span.time),
      timestamp: span.time,
      trace_id: span.traceId,
      span_id: span.spanId,
      parent_span_id: span.parentSpanId,
      name: span.name,
      kind: span.kind === 'SERVER' ? 2 : 3,
      duration_nano: span.durationNano,
      status_code: span.status === 'ERROR' ? 2 : 0,
      status_message: span.message,
      ...attributes(span),
      events: [
        JSON.stringify({
          name: 'exception',
          timeUnixNano: seconds(span.time) * 1e9,
          attributeMap: { 'exception.type': 'Timeout' },
        }),
      ],
      links: JSON.stringify([
        { traceId: span.traceId, spanId: span.parentSpanId, refType: 'CHILD_OF' },
        { traceId: 'ab', spanId: 'cd', refType: 'FOLLOWS_FROM' },
      ]),
      has_error: span.status === 'ERROR',
    })),
    'signoz_logs.logs_v2': Array.from(logs, (log, index) => ({
      ts_bucket_start: bucket(log.time),
      timestamp: `${seconds(log.time)}000000000`,
      observed_timestamp: `${seconds(log.time)}000000000`,
      id: String(index),
      trace_id: log.traceId,
      span_id: log.spanId,
      trace_flags: 1,
      severity_text: log.text,
      severity_number: log.severity,
      body: log.body,
      ...attributes(log),
      scope_name: 'shop',
      scope_version: '2',
    })),
    'signoz_metrics.samples_v4': Array.from(scalar, (point) => ({
      temporality: point.type === 'sum' ? 'Cumulative' : 'Unspecified',
      metric_name: point.name,
      fingerprint: fingerprint(JSON.stringify([point.name, resourceOf(point), point.attributes])),
      unix_milli: seconds(point.time) * 1000,
      value: point.value,
    })),
    'signoz_metrics.time_series_v4': Array.from(scalar, (point) => ({
      temporality: point.type === 'sum' ? 'Cumulative' : 'Unspecified',
      metric_name: point.name,
      description: 'of the shop',
      unit: 's',
      type: point.type === 'sum' ? 'Sum' : 'Gauge',
      is_monotonic: point.type === 'sum',
      fingerprint: fingerprint(JSON.stringify([point.name, resourceOf(point), point.attributes])),
      unix_milli: Math.floor(seconds(point.time) / 3600) * 3_600_000,
      labels: JSON.stringify({ ...resourceOf(point), ...point.attributes, __name__: point.name }),
      attrs: point.attributes,
      resource_attrs: resourceOf(point),
    })),
  };
}
