import { sourcesOf, type MappingPreset } from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../literals.ts';
import { json, plain, present, text, type Wanted } from '../writer.ts';

/** Enums are numbers there; ours are OTLP's names. */
function named(column: string, names: readonly string[]): Wanted {
  const list = names.map((name) => `'${name}'`).join(', ');
  return [`IFNULL([${list}][SAFE_OFFSET(${column})], '${names[0] ?? ''}')`, column];
}

/** The first of the keys that an object has. */
function value(column: string, ...keys: readonly string[]): Wanted {
  const read = keys.map((key) => `JSON_VALUE(${column}, '$."${key}"')`);
  return [`COALESCE(${read.join(', ')}, '')`, column];
}

const resource = (...keys: readonly string[]) => value('resource.attributes', ...keys);
const label = (...keys: readonly string[]) => value('labels', ...keys);

function list(column: string, fields: readonly string[], reads: readonly string[]): Wanted {
  const select = `AS STRUCT ${fields.join(', ')}, IFNULL(entry.attributes, JSON '{}') AS attributes`;
  const from = `FROM UNNEST(${column}) AS entry WITH OFFSET AS position ORDER BY position`;
  return [`ARRAY(SELECT ${select} ${from})`, ...reads.map((name) => `${column}.${name}`), `${column}.attributes`];
}

const spans: Readonly<Record<string, Wanted>> = {
  time: plain('start_time'),
  end_time: plain('end_time'),
  duration_nano: plain('duration_nano'),
  trace_id: plain('trace_id'),
  span_id: plain('span_id'),
  parent_span_id: text('parent_span_id'),
  trace_state: text('trace_state'),
  name: text('name'),
  kind: named('kind', ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']),
  status_code: named('status.code', ['UNSET', 'OK', 'ERROR']),
  status_message: text('status.message'),
  service_name: resource('service.name'),
  service_version: resource('service.version'),
  deployment_environment: resource('deployment.environment.name', 'deployment.environment'),
  attributes: json('attributes'),
  resource_attributes: json('resource.attributes'),
  scope_name: text('instrumentation_scope.name'),
  scope_version: text('instrumentation_scope.version'),
  events: list('events', ['entry.time AS time', `IFNULL(entry.name, '') AS name`], ['time', 'name']),
  links: list(
    'links',
    [
      `IFNULL(entry.trace_id, '') AS trace_id`,
      `IFNULL(entry.span_id, '') AS span_id`,
      `IFNULL(entry.trace_state, '') AS trace_state`,
    ],
    ['trace_id', 'span_id', 'trace_state'],
  ),
};

/** Cloud Logging's severities in OTLP's numbers. */
const severities = {
  DEBUG: 5,
  INFO: 9,
  NOTICE: 10,
  WARNING: 13,
  ERROR: 17,
  CRITICAL: 18,
  ALERT: 19,
  EMERGENCY: 21,
} as const;

export const severityNumber = Object.entries(severities)
  .map(([name, number]) => `WHEN '${name}' THEN ${number}`)
  .join(' ');

/** Sources disagree how the span's id is called; whichever is there. */
function logColumns(there: ReadonlyMap<string, string>): Readonly<Record<string, Wanted>> {
  const spanId = ['span_id', 'spanId'].find((name) => there.has(name));
  return {
    time: plain('timestamp'),
    observed_time: ['IFNULL(receive_timestamp, `timestamp`)', 'receive_timestamp', 'timestamp'],
    severity_number: [`CASE severity ${severityNumber} ELSE 0 END`, 'severity'],
    severity_text: text('severity'),
    body: [
      `COALESCE(text_payload, IF(json_payload IS NULL, NULL, TO_JSON_STRING(json_payload)), '')`,
      'text_payload',
      'json_payload',
    ],
    event_name: label('event.name'),
    trace_id: [`IFNULL(REGEXP_EXTRACT(trace, r'[^/]+$'), '')`, 'trace'],
    ...(spanId !== undefined && { span_id: text(spanId) }),
    flags: ['IF(IFNULL(trace_sampled, FALSE), 1, 0)', 'trace_sampled'],
    service_name: [
      `COALESCE(JSON_VALUE(labels, '$."service.name"'), JSON_VALUE(resource.labels, '$.service_name'), ` +
        `JSON_VALUE(resource.labels, '$.container_name'), '')`,
      'labels',
      'resource.labels',
    ],
    service_version: label('service.version'),
    deployment_environment: label('deployment.environment.name', 'deployment.environment'),
    attributes: json('labels'),
    resource_attributes: json('resource.labels'),
  };
}

/** Views that Google Cloud Observability shows through linked datasets; it keeps no metrics there. */
export const googleCloud: MappingPreset = {
  name: 'google-cloud',
  title: 'Google Cloud Observability: linked datasets of traces and logs',
  names: { trace_dataset: 'trace', spans: '_AllSpans', log_dataset: 'logs', logs: '_AllLogs' },
  async sources(names, columnsOf) {
    const spansPath = `${names['trace_dataset']}.${names['spans']}`;
    const logsPath = `${names['log_dataset']}.${names['logs']}`;
    const [spansThere, logsThere] = await Promise.all([columnsOf(spansPath), columnsOf(logsPath)]);
    return sourcesOf({
      spans: spansThere && { from: tablePath(spansPath), columns: present(spans, spansThere) },
      logs: logsThere && { from: tablePath(logsPath), columns: present(logColumns(logsThere), logsThere) },
    });
  },
};
