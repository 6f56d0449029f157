import { type MappingPreset, sourcesOf, type TableSource } from '../../../src/contract/telemetry/index.ts';
import { literal } from '../quote.ts';
import { quantile } from '../types.ts';
import {
  attribute,
  type Columns,
  environment,
  eventsOf,
  exemplarsOf,
  integer,
  kindOfText,
  linksOf,
  pick,
  present,
  statusOfText,
  tableOf,
} from './columns.ts';

/** The traces table of the Collector's exporter and of what was made after it. */
function spansSource(from: string, columns: Columns): TableSource {
  const duration = pick(columns, 'Duration');
  const kind = pick(columns, 'SpanKind');
  const status = pick(columns, 'StatusCode');
  return {
    from,
    columns: present({
      time: pick(columns, 'Timestamp'),
      end_time: duration && `addNanoseconds(Timestamp, ${duration})`,
      duration_nano: duration,
      trace_id: pick(columns, 'TraceId'),
      span_id: pick(columns, 'SpanId'),
      parent_span_id: pick(columns, 'ParentSpanId'),
      trace_state: pick(columns, 'TraceState'),
      name: pick(columns, 'SpanName'),
      kind: kind && kindOfText(kind),
      status_code: status && statusOfText(status),
      status_message: pick(columns, 'StatusMessage'),
      ...service(columns),
      attributes: pick(columns, 'SpanAttributes'),
      events: eventsOf(columns, 'Events'),
      links: linksOf(columns, 'Links'),
    }),
  };
}

function logsSource(from: string, columns: Columns): TableSource {
  return {
    from,
    columns: present({
      time: pick(columns, 'Timestamp'),
      observed_time: pick(columns, 'ObservedTimestamp'),
      severity_number: integer(columns, 'SeverityNumber'),
      severity_text: pick(columns, 'SeverityText'),
      body: pick(columns, 'Body'),
      event_name: pick(columns, 'EventName'),
      trace_id: pick(columns, 'TraceId'),
      span_id: pick(columns, 'SpanId'),
      flags: integer(columns, 'TraceFlags'),
      ...service(columns),
      attributes: pick(columns, 'LogAttributes'),
    }),
    // Which of the layouts' sort keys the table has cannot be told from its columns: both are reached.
    timeBounds: [
      'toStartOfFiveMinutes(Timestamp) >= toStartOfFiveMinutes({start})',
      'toStartOfFiveMinutes(Timestamp) <= toStartOfFiveMinutes({end})',
      ...(columns.has('TimestampTime')
        ? ['TimestampTime >= toDateTime({start})', 'TimestampTime <= toDateTime({end})']
        : []),
    ],
  };
}

/** What every table of the exporter has about the sender. */
function service(columns: Columns): Readonly<Record<string, string | undefined>> {
  return {
    service_name: pick(columns, 'ServiceName'),
    service_version: attribute(columns, 'ResourceAttributes', 'service.version'),
    deployment_environment: environment(columns, 'ResourceAttributes'),
    resource_attributes: pick(columns, 'ResourceAttributes'),
    scope_name: pick(columns, 'ScopeName'),
    scope_version: pick(columns, 'ScopeVersion'),
    scope_attributes: pick(columns, 'ScopeAttributes'),
    ...schemaUrls(columns),
  };
}

function schemaUrls(columns: Columns): Readonly<Record<string, string | undefined>> {
  const resource = pick(columns, 'ResourceSchemaUrl');
  const scope = pick(columns, 'ScopeSchemaUrl');
  const dropped = pick(columns, 'ScopeDroppedAttrCount');
  if (resource === undefined || scope === undefined) return {};
  const fields = [
    `'resource_schema_url', if(${scope} IN ('', ${resource}), '', ${resource})`,
    ...(dropped === undefined
      ? []
      : [`'scope_dropped_attributes_count', if(${dropped} = 0, '', toString(${dropped}))`]),
  ];
  return {
    schema_url: `if(${scope} = '', ${resource}, ${scope})`,
    otlp_fields: `mapFilter((_key, _value) -> _value != '', map(${fields.join(', ')}))`,
  };
}

const metricTypes = ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;
type MetricType = (typeof metricTypes)[number];

/** One of the exporter's five metrics tables. Their columns are cast, since the five are one UNION ALL. */
function metricsSource(type: MetricType, from: string, columns: Columns): TableSource {
  const int = (name: string) => cast(columns, name, 'Nullable(Int64)');
  const float = (name: string) => cast(columns, name, 'Nullable(Float64)');
  const ints = (name: string) => cast(columns, name, 'Array(Int64)');
  const start = pick(columns, 'StartTimeUnix');
  const temporality = pick(columns, 'AggregationTemporality');
  return {
    from,
    columns: present({
      time: pick(columns, 'TimeUnix'),
      // The exporter writes 1970 where the point has no start.
      start_time: start && `nullIf(toDateTime64(${start}, 9, 'UTC'), toDateTime64(0, 9, 'UTC'))`,
      name: pick(columns, 'MetricName'),
      type: literal(type),
      unit: pick(columns, 'MetricUnit'),
      description: pick(columns, 'MetricDescription'),
      aggregation_temporality: temporality && `transform(${temporality}, [1, 2], ['delta', 'cumulative'], '')`,
      is_monotonic: cast(columns, 'IsMonotonic', 'Nullable(Bool)'),
      value: float('Value'),
      count: int('Count'),
      sum: float('Sum'),
      min: float('Min'),
      max: float('Max'),
      bucket_counts: ints('BucketCounts'),
      explicit_bounds: pick(columns, 'ExplicitBounds'),
      scale: int('Scale'),
      zero_count: int('ZeroCount'),
      positive_offset: int('PositiveOffset'),
      positive_bucket_counts: ints('PositiveBucketCounts'),
      negative_offset: int('NegativeOffset'),
      negative_bucket_counts: ints('NegativeBucketCounts'),
      quantile_values: quantiles(columns),
      ...service(columns),
      attributes: pick(columns, 'Attributes'),
      flags: cast(columns, 'Flags', 'Int64'),
      zero_threshold: float('ZeroThreshold'),
      exemplars: exemplarsOf(columns, 'Exemplars'),
    }),
  };
}

function cast(columns: Columns, name: string, type: string): string | undefined {
  const column = pick(columns, name);
  return column && `CAST(${column}, ${literal(type)})`;
}

function quantiles(columns: Columns): string | undefined {
  if (!columns.has('ValueAtQuantiles.Quantile') || !columns.has('ValueAtQuantiles.Value')) return undefined;
  const one = `CAST((_quantile, _value), ${literal(quantile)})`;
  return `arrayMap((_quantile, _value) -> ${one}, ValueAtQuantiles.Quantile, ValueAtQuantiles.Value)`;
}

/** The exporter's table of exponential histograms changed its name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  otel_metrics_exponential_histogram: ['otel_metrics_exp_histogram'],
};

/** A preset for tables of the Collector's exporter, created by it or by the operator. */
export function exporterPreset(name: string, title: string, database: string): MappingPreset {
  return {
    name,
    title,
    names: {
      database,
      traces: 'otel_traces',
      logs: 'otel_logs',
      ...Object.fromEntries(metricTypes.map((type) => [`metrics_${type}`, `otel_metrics_${type}`])),
    },
    async sources(names, columns) {
      const find = async (key: string) => {
        const usual = names[key] ?? '';
        return await tableOf(columns, names['database'], [usual, ...(otherNames[usual] ?? [])]);
      };
      const traces = await find('traces');
      const logs = await find('logs');
      const metrics: TableSource[] = [];
      for (const type of metricTypes) {
        const table = await find(`metrics_${type}`);
        if (table !== undefined) metrics.push(metricsSource(type, table.from, table.columns));
      }
      return sourcesOf({
        spans: traces && spansSource(traces.from, traces.columns),
        logs: logs && logsSource(logs.from, logs.columns),
        metrics,
      });
    },
  };
}
