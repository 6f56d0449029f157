import { sourcesOf, words, type MappingPreset, type TableSource } from '../../../src/contract/telemetry/index.ts';
import { literal } from '../quote.ts';
import {
  attribute,
  environment,
  integer,
  kindOfNumber,
  kindOfText,
  pick,
  present,
  statusOfNumber,
  tableOf,
  type Columns,
} from './columns.ts';
import { event, link, map } from '../types.ts';

const resource = 'resources_string';

function spansSource(from: string, columns: Columns): TableSource {
  const duration = pick(columns, 'duration_nano', 'durationNano');
  const events = pick(columns, 'events');
  const links = pick(columns, 'links', 'references');
  const kind = pick(columns, 'kind');
  const status = pick(columns, 'status_code', 'statusCode');
  return {
    from,
    columns: present({
      time: pick(columns, 'timestamp'),
      end_time: duration && `addNanoseconds(timestamp, ${duration})`,
      duration_nano: duration,
      trace_id: pick(columns, 'trace_id', 'traceID'),
      span_id: pick(columns, 'span_id', 'spanID'),
      parent_span_id: pick(columns, 'parent_span_id', 'parentSpanID'),
      trace_state: pick(columns, 'trace_state', 'traceState'),
      flags: integer(columns, 'flags'),
      name: pick(columns, 'name'),
      kind: kind && (/Int/.test(columns.get('kind') ?? '') ? kindOfNumber(kind) : kindOfText(kind)),
      status_code: status && statusOfNumber(status),
      status_message: pick(columns, 'status_message', 'statusMessage'),
      ...service(columns),
      events: events && eventsOf(events),
      links: links && linksOf(links),
    }),
    timeBounds: bucketBounds,
  };
}

function logsSource(from: string, columns: Columns): TableSource {
  return {
    from,
    columns: present({
      time: 'fromUnixTimestamp64Nano(toInt64(timestamp))',
      observed_time: pick(columns, 'observed_timestamp') && 'fromUnixTimestamp64Nano(toInt64(observed_timestamp))',
      severity_number: integer(columns, 'severity_number'),
      severity_text: pick(columns, 'severity_text'),
      body: pick(columns, 'body'),
      event_name: pick(columns, 'event_name'),
      trace_id: pick(columns, 'trace_id'),
      span_id: pick(columns, 'span_id'),
      flags: integer(columns, 'trace_flags'),
      ...service(columns),
    }),
    // `time` wraps a number of nanoseconds, so nothing said of it reaches the partitions.
    timeBounds: [
      ...bucketBounds,
      'timestamp >= toUInt64(toUnixTimestamp64Nano({start}))',
      'timestamp < toUInt64(toUnixTimestamp64Nano({end}))',
    ],
  };
}

/** Samples with what their series say. Histograms are series of their own: `….bucket`, `….count`, `….sum`. */
function metricsSource(samples: string, series: string, columns: Columns): TableSource {
  const latest = (name: string) => (columns.has(name) ? `, anyLast(${name}) AS ${name}` : '');
  const told = words('labels description unit type is_monotonic attrs resource_attrs').map(latest).join('');
  const ofSeries = (name: string) => (columns.has(name) ? `_series.${name}` : undefined);
  const labels = columns.has('labels')
    ? `JSONExtract(_series.labels, ${literal(map)})`
    : `CAST(map(), ${literal(map)})`;
  const label = (key: string) =>
    `if(${labels}[${literal(key)}] != '', ${labels}[${literal(key)}], ${labels}[${literal(key.replaceAll('.', '_'))}])`;
  const type = columns.has('type')
    ? "transform(_series.type, ['Gauge', 'Sum', 'Histogram', 'ExponentialHistogram', 'Summary'], ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'], 'gauge')"
    : undefined;
  const monotonic = ofSeries('is_monotonic');
  return {
    from: `${samples} AS _samples GLOBAL INNER JOIN (SELECT fingerprint${told} FROM ${series} GROUP BY fingerprint) AS _series ON _samples.fingerprint = _series.fingerprint`,
    columns: present({
      time: 'fromUnixTimestamp64Milli(_samples.unix_milli)',
      name: '_samples.metric_name',
      type,
      unit: ofSeries('unit'),
      description: ofSeries('description'),
      aggregation_temporality: "transform(_samples.temporality, ['Delta', 'Cumulative'], ['delta', 'cumulative'], '')",
      is_monotonic: type && monotonic && `if(_series.type = 'Sum', CAST(${monotonic}, 'Nullable(Bool)'), NULL)`,
      value: 'toNullable(_samples.value)',
      service_name: label('service.name'),
      service_version: label('service.version'),
      deployment_environment: label('deployment.environment'),
      attributes: ofSeries('attrs') ?? labels,
      resource_attributes: ofSeries('resource_attrs') ?? labels,
    }),
    timeBounds: [
      '_samples.unix_milli >= toUnixTimestamp64Milli({start})',
      '_samples.unix_milli <= toUnixTimestamp64Milli({end})',
    ],
  };
}

/** Rows are sorted by buckets of half an hour. */
const bucketBounds = [
  'ts_bucket_start >= toUnixTimestamp({start}) - 1800',
  'ts_bucket_start <= toUnixTimestamp({end})',
];

function service(columns: Columns): Readonly<Record<string, string | undefined>> {
  return {
    service_name:
      pick(columns, 'resource_string_service$$name', 'serviceName') ?? attribute(columns, resource, 'service.name'),
    service_version: attribute(columns, resource, 'service.version'),
    deployment_environment: environment(columns, resource),
    resource_attributes: pick(columns, resource),
    scope_name: pick(columns, 'scope_name'),
    scope_version: pick(columns, 'scope_version'),
    attributes: attributesOf(columns),
  };
}

/** Attributes lie in three maps by their type. */
function attributesOf(columns: Columns): string | undefined {
  const parts = [
    pick(columns, 'attributes_string'),
    ...['attributes_number', 'attributes_bool'].map((name) => {
      const column = pick(columns, name);
      return column && `mapApply((_key, _value) -> (_key, toString(_value)), ${column})`;
    }),
  ].filter((part) => part !== undefined);
  if (parts.length < 2) return parts[0];
  return `mapConcat(${parts.join(', ')})`;
}

function eventsOf(column: string): string {
  const parts = [
    "fromUnixTimestamp64Nano(JSONExtractInt(_event, 'timeUnixNano'))",
    "JSONExtractString(_event, 'name')",
    `JSONExtract(_event, 'attributeMap', ${literal(map)})`,
  ];
  return `arrayMap(_event -> CAST((${parts.join(', ')}), ${literal(event)}), ${column})`;
}

/** The parent is a reference too, and not a link. */
function linksOf(column: string): string {
  const parts = [
    "JSONExtractString(_link, 'traceId')",
    "JSONExtractString(_link, 'spanId')",
    "''",
    `CAST(map(), ${literal(map)})`,
  ];
  const links = `arrayFilter(_link -> JSONExtractString(_link, 'refType') = 'FOLLOWS_FROM', JSONExtractArrayRaw(${column}))`;
  return `arrayMap(_link -> CAST((${parts.join(', ')}), ${literal(link)}), ${links})`;
}

/** SigNoz: traces v3, logs v2, metrics v4. Its distributed tables are read, or the local ones where there are no others. */
export const signoz: MappingPreset = {
  name: 'signoz',
  title: 'SigNoz',
  names: {
    traces_database: 'signoz_traces',
    logs_database: 'signoz_logs',
    metrics_database: 'signoz_metrics',
    traces: 'distributed_signoz_index_v3',
    logs: 'distributed_logs_v2',
    samples: 'distributed_samples_v4',
    series: 'distributed_time_series_v4',
  },
  async sources(names, columns) {
    const find = async (database: string, table: string) => {
      const name = names[table] ?? '';
      return await tableOf(columns, names[database], [name, name.replace(/^distributed_/, '')]);
    };
    const traces = await find('traces_database', 'traces');
    const logs = await find('logs_database', 'logs');
    const samples = await find('metrics_database', 'samples');
    const series = await find('metrics_database', 'series');
    return sourcesOf({
      spans: traces && spansSource(traces.from, traces.columns),
      logs: logs && logsSource(logs.from, logs.columns),
      metrics: samples && series && metricsSource(samples.from, series.from, series.columns),
    });
  },
};
