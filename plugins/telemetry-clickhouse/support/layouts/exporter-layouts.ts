import { logs, points, resourceOf, spans, type SamplePoint } from './telemetry.ts';

/** How the tables of the Collector's exporter differ from release to release and from maker to maker. */
export interface ExporterLayout {
  readonly database: string;
  readonly attributes: 'Map(LowCardinality(String), String)' | 'JSON';
  /** `SPAN_KIND_SERVER` before, `Server` now. */
  readonly enums: 'prefixed' | 'plain';
  readonly timestampTime: boolean;
  readonly eventName: boolean;
  readonly logsOrder: string;
  readonly metricTime: 'DateTime' | 'DateTime64(9)';
  readonly exponential: string;
  /** Columns that a maker adds to the logs and traces. */
  readonly extra?: string;
}

const granularity = 'SETTINGS index_granularity = 64, ttl_only_drop_parts = 1';

export function exporterTables(layout: ExporterLayout): readonly string[] {
  const { database, attributes } = layout;
  const bloom =
    attributes === 'JSON'
      ? ''
      : ', INDEX idx_res_attr_value mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1';
  const keys = (name: string) => (attributes === 'JSON' ? `, ${name}Keys Array(LowCardinality(String))` : '');
  const extra = layout.extra === undefined ? '' : `, ${layout.extra}`;
  return [
    `CREATE DATABASE IF NOT EXISTS ${database}`,
    `CREATE TABLE ${database}.otel_traces (
      Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1)), TraceId String, SpanId String, ParentSpanId String,
      TraceState String, SpanName LowCardinality(String), SpanKind LowCardinality(String),
      ServiceName LowCardinality(String), ResourceAttributes ${attributes}, ScopeName String, ScopeVersion String,
      SpanAttributes ${attributes}, Duration UInt64, StatusCode LowCardinality(String), StatusMessage String,
      Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes ${attributes}),
      Links Nested (TraceId String, SpanId String, TraceState String, Attributes ${attributes}),
      INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
      INDEX idx_duration Duration TYPE minmax GRANULARITY 1${bloom}${extra}
    ) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
    ORDER BY (ServiceName, SpanName, toDateTime(Timestamp), Timestamp) ${granularity}`,
    `CREATE TABLE ${database}.otel_logs (
      Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1))${layout.timestampTime ? ', TimestampTime DateTime DEFAULT toDateTime(Timestamp)' : ''},
      TraceId String, SpanId String, TraceFlags UInt8, SeverityText LowCardinality(String), SeverityNumber UInt8,
      ServiceName LowCardinality(String), Body String, ResourceSchemaUrl LowCardinality(String),
      ResourceAttributes ${attributes}${keys('ResourceAttributes')}, ScopeSchemaUrl LowCardinality(String),
      ScopeName String, ScopeVersion LowCardinality(String), ScopeAttributes ${attributes},
      LogAttributes ${attributes}${keys('LogAttributes')}${layout.eventName ? ', EventName String' : ''},
      INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1${bloom}${extra}
    ) ENGINE = MergeTree PARTITION BY toDate(${layout.timestampTime ? 'TimestampTime' : 'Timestamp'})
    ORDER BY (${layout.logsOrder}) ${granularity}`,
    ...(['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const).map((type) =>
      metrics(layout, type),
    ),
  ];
}

const own: Readonly<Record<SamplePoint['type'], string>> = {
  gauge: 'Value Float64',
  sum: 'Value Float64, AggregationTemporality Int32, IsMonotonic Bool',
  histogram:
    'Count UInt64, Sum Float64, BucketCounts Array(UInt64), ExplicitBounds Array(Float64), Min Float64, Max Float64, AggregationTemporality Int32',
  exponential_histogram:
    'Count UInt64, Sum Float64, Scale Int32, ZeroCount UInt64, PositiveOffset Int32, PositiveBucketCounts Array(UInt64), NegativeOffset Int32, NegativeBucketCounts Array(UInt64), Min Float64, Max Float64, AggregationTemporality Int32',
  summary: 'Count UInt64, Sum Float64, ValueAtQuantiles Nested(Quantile Float64, Value Float64)',
};

function tableOf({ exponential }: ExporterLayout, type: SamplePoint['type']): string {
  return type === 'exponential_histogram' ? exponential : `otel_metrics_${type}`;
}

function metrics(layout: ExporterLayout, type: SamplePoint['type']): string {
  const { database, attributes, metricTime } = layout;
  const exemplars =
    type === 'summary'
      ? ''
      : `Exemplars Nested (FilteredAttributes ${attributes}, TimeUnix DateTime64(9), Value Float64, SpanId String, TraceId String), `;
  return `CREATE TABLE ${database}.${tableOf(layout, type)} (
    ResourceAttributes ${attributes}, ResourceSchemaUrl String, ScopeName String, ScopeVersion String,
    ScopeAttributes ${attributes}, ScopeDroppedAttrCount UInt32, ScopeSchemaUrl String,
    ServiceName LowCardinality(String), MetricName String, MetricDescription String, MetricUnit String,
    Attributes ${attributes}, StartTimeUnix ${metricTime}, TimeUnix ${metricTime}, ${own[type]}, ${exemplars}Flags UInt32,
    INDEX idx_time_minmax TimeUnix TYPE minmax GRANULARITY 1
  ) ENGINE = MergeTree PARTITION BY toDate(TimeUnix)
  ORDER BY (ServiceName, MetricName, toUnixTimestamp64Nano(toDateTime64(TimeUnix, 9))) ${granularity}`;
}

/** Rows by table, for JSONEachRow. */
export function exporterRows(layout: ExporterLayout): Readonly<Record<string, readonly object[]>> {
  const word = (prefix: string, name: string) =>
    layout.enums === 'prefixed' ? `${prefix}_${name}` : `${name[0]}${name.slice(1).toLowerCase()}`;
  const time = (text: string) => (layout.metricTime === 'DateTime' ? text.slice(0, 19) : text);
  const byTable: Record<string, object[]> = {};
  byTable[`${layout.database}.otel_traces`] = Array.from(spans, (span) => ({
    Timestamp: span.time,
    TraceId: span.traceId,
    SpanId: span.spanId,
    ParentSpanId: span.parentSpanId,
    SpanName: span.name,
    SpanKind: word('SPAN_KIND', span.kind),
    ServiceName: span.service,
    ResourceAttributes: resourceOf(span),
    ScopeName: 'shop',
    ScopeVersion: '2',
    SpanAttributes: span.attributes,
    Duration: span.durationNano,
    StatusCode: word('STATUS_CODE', span.status),
    StatusMessage: span.message,
    'Events.Timestamp': [span.time],
    'Events.Name': ['exception'],
    'Events.Attributes': [{ 'exception.type': 'Timeout' }],
    'Links.TraceId': ['ab'],
    'Links.SpanId': ['cd'],
    'Links.TraceState': [''],
    'Links.Attributes': [{}],
  }));
  byTable[`${layout.database}.otel_logs`] = Array.from(logs, (log) => ({
    Timestamp: log.time,
    TraceId: log.traceId,
    SpanId: log.spanId,
    TraceFlags: 1,
    SeverityText: log.text,
    SeverityNumber: log.severity,
    ServiceName: log.service,
    Body: log.body,
    ResourceAttributes: resourceOf(log),
    ScopeName: 'shop',
    ScopeVersion: '2',
    LogAttributes: log.attributes,
    ...(layout.eventName ? { EventName: 'shop.event' } : {}),
  }));
  for (const point of points) {
    (byTable[`${layout.database}.${tableOf(layout, point.type)}`] ??= []).push({
      ResourceAttributes: resourceOf(point),
      ScopeName: 'shop',
      ScopeVersion: '2',
      ScopeAttributes: { build: '7' },
      ScopeDroppedAttrCount: 2,
      ScopeSchemaUrl: 'https://example.com/2',
      ResourceSchemaUrl: 'https://example.com/1',
      ServiceName: point.service,
      MetricName: point.name,
      MetricDescription: 'of the shop',
      MetricUnit: 's',
      Attributes: point.attributes,
      StartTimeUnix: time('2026-03-01 00:00:00.000'),
      TimeUnix: time(point.time),
      ...valuesOf(point),
      ...(point.type !== 'summary' && {
        'Exemplars.FilteredAttributes': [{ 'user.id': '4' }],
        'Exemplars.TimeUnix': ['2026-03-01 00:00:00.5'],
        'Exemplars.Value': [1.5],
        'Exemplars.SpanId': ['cd'],
        'Exemplars.TraceId': ['ab'],
      }),
    });
  }
  return byTable;
}

function valuesOf({ type, value }: SamplePoint): object {
  const distribution = { Count: 4, Sum: value, Min: 1, Max: 3 };
  if (type === 'gauge') return { Value: value };
  if (type === 'sum') return { Value: value, AggregationTemporality: 2, IsMonotonic: true };
  if (type === 'histogram') {
    return { ...distribution, BucketCounts: [1, 3], ExplicitBounds: [2], AggregationTemporality: 1 };
  }
  if (type === 'exponential_histogram') {
    return {
      ...distribution,
      Scale: 2,
      ZeroCount: 1,
      PositiveOffset: 1,
      PositiveBucketCounts: [3],
      AggregationTemporality: 1,
    };
  }
  return { Count: 4, Sum: value, 'ValueAtQuantiles.Quantile': [0.5], 'ValueAtQuantiles.Value': [2] };
}
