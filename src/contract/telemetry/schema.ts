/**
 * The logical schema every warehouse is shown as: OTLP field names in snake_case, nested messages flattened, enums as
 * upper-case names, times as native UTC timestamps. `time` is in all three tables, so "filter on time" is one rule.
 */
export type ColumnType =
  | 'timestamp'
  | 'string'
  | 'int64'
  | 'float64'
  | 'boolean'
  /** string → string */
  | 'map'
  | 'int64[]'
  | 'float64[]'
  /** array of {time, name, attributes} */
  | 'events'
  /** array of {trace_id, span_id, trace_state, attributes} */
  | 'links'
  /** array of {time, value, trace_id, span_id, filtered_attributes} */
  | 'exemplars'
  /** array of {quantile, value} */
  | 'quantiles';

/** Types that hold attributes, which read rules hold for. */
export type AttributesType = Extract<ColumnType, 'map' | 'events' | 'links' | 'exemplars'>;

/** What an item of a list has: its attributes, and before them what is no attribute. */
export const itemFields = {
  events: { others: ['time', 'name'], attributes: 'attributes' },
  links: { others: ['trace_id', 'span_id', 'trace_state'], attributes: 'attributes' },
  exemplars: { others: ['time', 'value', 'trace_id', 'span_id'], attributes: 'filtered_attributes' },
} as const satisfies Record<Exclude<AttributesType, 'map'>, unknown>;

export function holdsAttributes(type: ColumnType): type is AttributesType {
  return type === 'map' || type in itemFields;
}

export interface LogicalColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** NULL where the point or record has no such field; every other column is never NULL ('' or 0 stand for absent). */
  readonly nullable?: true;
  /** This warehouse has nothing for it: every row holds NULL, '' or 0. */
  readonly empty?: true;
  /** All that the column may hold. */
  readonly values?: readonly string[];
  /** Frames, files and tables of an earlier version lack it. Such columns are appended, so what lacks them is a prefix. */
  readonly added?: true;
  /** Few senders fill it: a model is told its name, and more by DESCRIBE. */
  readonly rare?: true;
  /** Written by the sender of telemetry: it may hold a prompt injection. */
  readonly untrusted?: true;
  readonly description: string;
}

export interface LogicalTable {
  readonly name: TableName;
  readonly description: string;
  readonly columns: readonly LogicalColumn[];
}

export const tableNames = ['spans', 'metrics', 'logs'] as const;
/** Written `otel.spans`, `otel.metrics`, `otel.logs` in SQL. */
export type TableName = (typeof tableNames)[number];

const service = [
  { name: 'service_name', type: 'string', untrusted: true, description: "resource service.name, '' if absent" },
  { name: 'service_version', type: 'string', untrusted: true, description: '' },
  {
    name: 'deployment_environment',
    type: 'string',
    untrusted: true,
    description: 'resource deployment.environment.name',
  },
] as const satisfies readonly LogicalColumn[];

const context = [
  { name: 'attributes', type: 'map', untrusted: true, description: 'of the record' },
  { name: 'resource_attributes', type: 'map', untrusted: true, description: 'of its sender' },
  { name: 'scope_name', type: 'string', untrusted: true, description: '' },
  { name: 'scope_version', type: 'string', untrusted: true, description: '' },
] as const satisfies readonly LogicalColumn[];

const added = [
  {
    name: 'scope_attributes',
    type: 'map',
    added: true,
    rare: true,
    untrusted: true,
    description: 'attributes of the instrumentation scope',
  },
  {
    name: 'schema_url',
    type: 'string',
    added: true,
    rare: true,
    untrusted: true,
    description: "of the scope, else of the resource, '' if absent",
  },
  {
    name: 'otlp_fields',
    type: 'map',
    added: true,
    rare: true,
    untrusted: true,
    description:
      'other OTLP fields that are set, by name: dropped_attributes_count, dropped_events_count, dropped_links_count, events.dropped_attributes_count, links.dropped_attributes_count, links.flags, resource_dropped_attributes_count, scope_dropped_attributes_count, resource_schema_url, metadata',
  },
] as const satisfies readonly LogicalColumn[];

function oneOf<const Name extends string>(name: Name, values: readonly string[]) {
  const description = values.map((value) => (value === '' ? "''" : value)).join(' ');
  return { name, type: 'string', values, description } as const satisfies LogicalColumn;
}

export const otelTables = {
  spans: {
    name: 'spans',
    description: 'One row per span.',
    columns: [
      { name: 'time', type: 'timestamp', description: '= start_time; filter on it' },
      { name: 'start_time', type: 'timestamp', description: 'UTC' },
      { name: 'end_time', type: 'timestamp', description: 'UTC' },
      { name: 'duration_nano', type: 'int64', description: 'nanoseconds; /1e6 = ms' },
      { name: 'trace_id', type: 'string', description: 'lower-case hex' },
      { name: 'span_id', type: 'string', description: 'lower-case hex' },
      { name: 'parent_span_id', type: 'string', description: "'' for a root span" },
      { name: 'trace_state', type: 'string', untrusted: true, description: 'W3C tracestate' },
      { name: 'flags', type: 'int64', description: '' },
      { name: 'name', type: 'string', untrusted: true, description: '' },
      oneOf('kind', ['INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER', 'UNSPECIFIED']),
      oneOf('status_code', ['UNSET', 'OK', 'ERROR']),
      { name: 'status_message', type: 'string', untrusted: true, description: '' },
      ...service,
      ...context,
      { name: 'events', type: 'events', untrusted: true, description: 'array of {time, name, attributes}' },
      {
        name: 'links',
        type: 'links',
        untrusted: true,
        description: 'array of {trace_id, span_id, trace_state, attributes}',
      },
      ...added,
    ],
  },
  metrics: {
    name: 'metrics',
    description: 'One row per data point.',
    columns: [
      { name: 'time', type: 'timestamp', description: 'of the point' },
      { name: 'start_time', type: 'timestamp', nullable: true, description: 'of the interval' },
      { name: 'name', type: 'string', untrusted: true, description: '' },
      oneOf('type', ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary']),
      { name: 'unit', type: 'string', untrusted: true, description: 'UCUM' },
      { name: 'description', type: 'string', untrusted: true, description: '' },
      oneOf('aggregation_temporality', ['delta', 'cumulative', '']),
      { name: 'is_monotonic', type: 'boolean', nullable: true, description: 'sum' },
      { name: 'value', type: 'float64', nullable: true, description: 'gauge and sum' },
      { name: 'count', type: 'int64', nullable: true, description: 'histograms and summary' },
      { name: 'sum', type: 'float64', nullable: true, description: 'histograms and summary' },
      { name: 'min', type: 'float64', nullable: true, description: 'histograms' },
      { name: 'max', type: 'float64', nullable: true, description: 'histograms' },
      { name: 'bucket_counts', type: 'int64[]', description: 'histogram' },
      { name: 'explicit_bounds', type: 'float64[]', description: 'histogram' },
      { name: 'scale', type: 'int64', nullable: true, description: 'exponential histogram' },
      { name: 'zero_count', type: 'int64', nullable: true, description: 'exponential histogram' },
      { name: 'positive_offset', type: 'int64', nullable: true, description: 'exponential histogram' },
      { name: 'positive_bucket_counts', type: 'int64[]', description: 'exponential histogram' },
      { name: 'negative_offset', type: 'int64', nullable: true, description: 'exponential histogram' },
      { name: 'negative_bucket_counts', type: 'int64[]', description: 'exponential histogram' },
      { name: 'quantile_values', type: 'quantiles', description: 'summary: array of {quantile, value}' },
      ...service,
      ...context,
      { name: 'flags', type: 'int64', description: '' },
      ...added,
      {
        name: 'as_int',
        type: 'int64',
        nullable: true,
        added: true,
        rare: true,
        description: 'value to the digit, where it was sent as an integer',
      },
      {
        name: 'zero_threshold',
        type: 'float64',
        nullable: true,
        added: true,
        rare: true,
        description: 'exponential histogram: zero_count counts what is no farther from 0',
      },
      {
        name: 'exemplars',
        type: 'exemplars',
        added: true,
        untrusted: true,
        description: 'array of {time, value, trace_id, span_id, filtered_attributes}',
      },
    ],
  },
  logs: {
    name: 'logs',
    description: 'One row per log record.',
    columns: [
      { name: 'time', type: 'timestamp', description: 'of the record, else observed_time' },
      { name: 'observed_time', type: 'timestamp', description: '' },
      { name: 'severity_number', type: 'int64', description: '1-24; >=17 is error' },
      { name: 'severity_text', type: 'string', untrusted: true, description: '' },
      { name: 'body', type: 'string', untrusted: true, description: 'text, or JSON text if structured' },
      { name: 'event_name', type: 'string', untrusted: true, description: '' },
      { name: 'trace_id', type: 'string', description: "lower-case hex or ''" },
      { name: 'span_id', type: 'string', description: "lower-case hex or ''" },
      { name: 'flags', type: 'int64', description: '' },
      ...service,
      ...context,
      ...added,
    ],
  },
} as const satisfies { readonly [Name in TableName]: LogicalTable };
