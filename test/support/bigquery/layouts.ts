import type { Field, ScriptedTable } from './server.ts';

/** `name TYPE` each; `TYPE[]` is repeated, and a record has its own as `name:TYPE` behind. */
function fields(...lines: readonly string[]): readonly Field[] {
  return lines.map((line) => {
    const [name = '', type = '', ...inner] = line.split(/\s+/);
    const mode = type.endsWith('[]') ? 'REPEATED' : 'NULLABLE';
    return { name, type: type.replace('[]', ''), mode, fields: fields(...inner.map((item) => item.replace(':', ' '))) };
  });
}

const identity = [
  'resource_attributes JSON',
  'resource_schema_url STRING',
  'instrumentation_scope JSON',
  'scope_schema_url STRING',
];

/** As the Collector's BigQuery exporter makes them. */
export const collectorTables: Readonly<Record<'trace' | 'metric' | 'log', ScriptedTable>> = {
  trace: {
    byArrival: true,
    fields: fields(
      'trace_id STRING',
      'span_id STRING',
      'parent_span_id STRING',
      'trace_state STRING',
      'name STRING',
      'kind STRING',
      'start_time TIMESTAMP',
      'end_time TIMESTAMP',
      'status_code STRING',
      'status_message STRING',
      'flags INTEGER',
      'dropped_attributes_count INTEGER',
      'span_attributes JSON',
      'events JSON',
      'links JSON',
      ...identity,
    ),
  },
  metric: {
    byArrival: true,
    fields: fields(
      'metric_name STRING',
      'metric_description STRING',
      'metric_unit STRING',
      'metric_type STRING',
      'aggregation_temporality STRING',
      'is_monotonic BOOLEAN',
      'datapoint_timestamp TIMESTAMP',
      'start_timestamp TIMESTAMP',
      'value_int INTEGER',
      'value_double FLOAT',
      'exemplars JSON',
      'flags INTEGER',
      'quantiles JSON',
      'count INTEGER',
      'sum FLOAT',
      'min FLOAT',
      'max FLOAT',
      'bucket_counts JSON',
      'explicit_bounds JSON',
      'zero_threshold FLOAT',
      'datapoint_attributes JSON',
      ...identity,
    ),
  },
  log: {
    byArrival: true,
    fields: fields(
      'observed_timestamp TIMESTAMP',
      'log_timestamp TIMESTAMP',
      'trace_id STRING',
      'span_id STRING',
      'severity_number INTEGER',
      'severity_text STRING',
      'body STRING',
      'flags INTEGER',
      'dropped_attributes_count INTEGER',
      'log_attributes JSON',
      ...identity,
    ),
  },
};

/** As linked datasets of Google Cloud Observability show them. */
export const googleCloudTables: Readonly<Record<'_AllSpans' | '_AllLogs', ScriptedTable>> = {
  _AllSpans: {
    fields: fields(
      'trace_id STRING',
      'span_id STRING',
      'parent_span_id STRING',
      'trace_state STRING',
      'name STRING',
      'kind INTEGER',
      'start_time TIMESTAMP',
      'end_time TIMESTAMP',
      'duration_nano INTEGER',
      'status RECORD code:INTEGER message:STRING',
      'attributes JSON',
      'resource RECORD attributes:JSON',
      'instrumentation_scope RECORD name:STRING version:STRING',
      'events RECORD[] time:TIMESTAMP name:STRING attributes:JSON',
      'links RECORD[] trace_id:STRING span_id:STRING trace_state:STRING attributes:JSON',
    ),
  },
  _AllLogs: {
    fields: fields(
      'timestamp TIMESTAMP',
      'receive_timestamp TIMESTAMP',
      'insert_id STRING',
      'log_name STRING',
      'severity STRING',
      'text_payload STRING',
      'json_payload JSON',
      'labels JSON',
      'resource RECORD type:STRING labels:JSON',
      'trace STRING',
      'span_id STRING',
      'trace_sampled BOOLEAN',
    ),
  },
};

function record(name: string, ...inner: readonly Field[]): Field {
  return { name, type: 'RECORD', mode: 'NULLABLE', fields: inner };
}

/** As sinks of Cloud Logging and Cloud Trace write them. */
export const sinkTables: Readonly<Record<'logs' | 'spans', ScriptedTable>> = {
  logs: {
    fields: [
      record('resource', ...fields('type STRING'), record('labels', ...fields('container_name STRING'))),
      ...fields(
        'logName STRING',
        'textPayload STRING',
        'jsonPayload RECORD message:STRING',
        'timestamp TIMESTAMP',
        'receiveTimestamp TIMESTAMP',
        'severity STRING',
        'insertId STRING',
        'labels RECORD k8s_pod_app:STRING',
        'trace STRING',
        'spanId STRING',
        'traceSampled BOOLEAN',
      ),
    ],
  },
  spans: {
    byArrival: true,
    fields: [
      record(
        'span',
        ...fields(
          'name STRING',
          'spanId STRING',
          'parentSpanId STRING',
          'displayName RECORD value:STRING',
          'startTime TIMESTAMP',
          'endTime TIMESTAMP',
          'spanKind STRING',
          'status RECORD code:INTEGER message:STRING',
        ),
      ),
    ],
  },
};
