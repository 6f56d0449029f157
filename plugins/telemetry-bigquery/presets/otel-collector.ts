import { SightlineError } from '../../../src/contract/core/index.ts';
import { sourcesOf, type MappingPreset, type TableSource } from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../literals.ts';
import { json, plain, present, text, type Wanted } from '../writer.ts';

/**
 * Partitions are of the time rows arrived, which is after the time they are of: never long before `start`, and later than
 * `end` by as much as a sender was cut off. Rows that arrived last are in no partition yet.
 */
export function arrivedAround(column: string): readonly string[] {
  return [
    `${column} IS NULL OR ${column} >= TIMESTAMP_SUB(TIMESTAMP_TRUNC({start}, DAY), INTERVAL 1 DAY)`,
    `${column} IS NULL OR ${column} < TIMESTAMP_ADD({end}, INTERVAL 3 DAY)`,
  ];
}

/** The first resource attribute that exists, flat or nested at its dots. */
function resource(...keys: readonly string[]): Wanted {
  const read = keys.flatMap((key) => {
    const nested = key.replaceAll('.', '"."');
    return [`JSON_VALUE(resource_attributes, '$."${key}"')`, `JSON_VALUE(resource_attributes, '$."${nested}"')`];
  });
  return [`COALESCE(${read.join(', ')}, '')`, 'resource_attributes'];
}

function scope(key: string): Wanted {
  return [`IFNULL(JSON_VALUE(instrumentation_scope, '$.${key}'), '')`, 'instrumentation_scope'];
}

/** An array out of a JSON one, in its order. */
function list(column: string, select: string): Wanted {
  const from = `FROM UNNEST(JSON_QUERY_ARRAY(${column})) AS entry WITH OFFSET AS position ORDER BY position`;
  return [`ARRAY(SELECT ${select} ${from})`, column];
}

const entry = {
  text: (key: string) => `IFNULL(JSON_VALUE(entry, '$.${key}'), '') AS ${key}`,
  time: (key: string) => `SAFE_CAST(JSON_VALUE(entry, '$.${key}') AS TIMESTAMP)`,
  attributes: (key = 'attributes') => `IFNULL(JSON_QUERY(entry, '$.${key}'), JSON '{}') AS ${key}`,
} as const;

const common: Readonly<Record<string, Wanted>> = {
  service_name: resource('service.name'),
  service_version: resource('service.version'),
  deployment_environment: resource('deployment.environment.name', 'deployment.environment'),
  resource_attributes: json('resource_attributes'),
  scope_name: scope('name'),
  scope_version: scope('version'),
  flags: ['IFNULL(flags, 0)', 'flags'],
  scope_attributes: [`IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}')`, 'instrumentation_scope'],
  schema_url: [
    `COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, '')`,
    'scope_schema_url',
    'resource_schema_url',
  ],
  otlp_fields: otlpFields(),
};

/** Counts by their OTLP names, and the resource's schema URL where the scope's is another. */
function otlpFields(...counts: readonly string[]): Wanted {
  const members = [
    `'resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL)`,
    ...counts.map((name) => `'${name}', CAST(NULLIF(${name}, 0) AS STRING)`),
  ];
  return [`JSON_STRIP_NULLS(JSON_OBJECT(${members.join(', ')}))`, 'scope_schema_url', 'resource_schema_url', ...counts];
}

const spans: Readonly<Record<string, Wanted>> = {
  ...common,
  time: plain('start_time'),
  end_time: plain('end_time'),
  duration_nano: ['TIMESTAMP_DIFF(end_time, start_time, MICROSECOND) * 1000', 'end_time', 'start_time'],
  trace_id: plain('trace_id'),
  span_id: plain('span_id'),
  parent_span_id: text('parent_span_id'),
  trace_state: text('trace_state'),
  name: text('name'),
  kind: [`IFNULL(kind, 'UNSPECIFIED')`, 'kind'],
  status_code: [`IFNULL(status_code, 'UNSET')`, 'status_code'],
  status_message: text('status_message'),
  attributes: json('span_attributes'),
  events: list(
    'events',
    `AS STRUCT COALESCE(${entry.time('timestamp')}, ${entry.time('time')}) AS time, ${entry.text('name')}, ${entry.attributes()}`,
  ),
  links: list(
    'links',
    `AS STRUCT ${entry.text('trace_id')}, ${entry.text('span_id')}, ${entry.text('trace_state')}, ${entry.attributes()}`,
  ),
  otlp_fields: otlpFields('dropped_attributes_count'),
};

const metrics: Readonly<Record<string, Wanted>> = {
  ...common,
  time: plain('datapoint_timestamp'),
  start_time: plain('start_timestamp'),
  name: text('metric_name'),
  type: [`LOWER(IFNULL(metric_type, ''))`, 'metric_type'],
  unit: text('metric_unit'),
  description: text('metric_description'),
  aggregation_temporality: [
    `IF(aggregation_temporality IN ('DELTA', 'CUMULATIVE'), LOWER(aggregation_temporality), '')`,
    'aggregation_temporality',
  ],
  is_monotonic: [`IF(UPPER(metric_type) = 'SUM', IFNULL(is_monotonic, FALSE), NULL)`, 'metric_type', 'is_monotonic'],
  value: ['IFNULL(value_double, CAST(value_int AS FLOAT64))', 'value_double', 'value_int'],
  count: plain('count'),
  sum: plain('sum'),
  min: plain('min'),
  max: plain('max'),
  bucket_counts: list('bucket_counts', 'LAX_INT64(entry)'),
  explicit_bounds: list('explicit_bounds', 'LAX_FLOAT64(entry)'),
  quantile_values: list(
    'quantiles',
    'AS STRUCT LAX_FLOAT64(entry.quantile) AS quantile, LAX_FLOAT64(entry.value) AS value',
  ),
  attributes: json('datapoint_attributes'),
  as_int: plain('value_int'),
  zero_threshold: [
    `IF(UPPER(metric_type) = 'EXPONENTIAL_HISTOGRAM', zero_threshold, NULL)`,
    'metric_type',
    'zero_threshold',
  ],
  exemplars: list(
    'exemplars',
    `AS STRUCT ${entry.time('timestamp')} AS time, IFNULL(LAX_FLOAT64(entry.value_double), LAX_FLOAT64(entry.value_int)) AS value, ${entry.text('trace_id')}, ${entry.text('span_id')}, ${entry.attributes('filtered_attributes')}`,
  ),
};

const logs: Readonly<Record<string, Wanted>> = {
  ...common,
  time: plain('log_timestamp'),
  observed_time: ['IFNULL(observed_timestamp, log_timestamp)', 'observed_timestamp', 'log_timestamp'],
  severity_number: ['IFNULL(severity_number, 0)', 'severity_number'],
  severity_text: text('severity_text'),
  body: text('body'),
  event_name: [`IFNULL(JSON_VALUE(log_attributes, '$."event.name"'), '')`, 'log_attributes'],
  trace_id: text('trace_id'),
  span_id: text('span_id'),
  attributes: json('log_attributes'),
  otlp_fields: otlpFields('dropped_attributes_count'),
};

/** Tables of the Collector's BigQuery exporter, or views of all their columns with `_PARTITIONTIME AS partition_time`. */
export const otelCollector: MappingPreset = {
  name: 'otel-collector',
  title: "The OpenTelemetry Collector's BigQuery exporter",
  names: { dataset: 'otel', trace: 'trace', metric: 'metric', log: 'log', keys: 'flat' },
  async sources(names, columnsOf) {
    if (names['keys'] !== 'flat' && names['keys'] !== 'nested') {
      throw new SightlineError('config_invalid', 'telemetry.mapping.names.keys is flat or nested.', {
        hint: 'flat keeps {"http.route": …}, nested {"http": {"route": …}}.',
      });
    }
    const sourceOf = async (
      name: string,
      columns: Readonly<Record<string, Wanted>>,
    ): Promise<TableSource | undefined> => {
      const path = `${names['dataset']}.${names[name]}`;
      const there = await columnsOf(path);
      if (there === undefined) return undefined;
      const partition = ['_PARTITIONTIME', 'partition_time'].find((candidate) => there.has(candidate));
      const timeBounds = partition === undefined ? {} : { timeBounds: arrivedAround(partition) };
      return { from: tablePath(path), columns: present(columns, there), ...timeBounds };
    };
    const [trace, metric, log] = await Promise.all([
      sourceOf('trace', spans),
      sourceOf('metric', metrics),
      sourceOf('log', logs),
    ]);
    return sourcesOf({ spans: trace, metrics: metric, logs: log });
  },
};
