import { layouts } from './layouts/index.ts';
import { logs, resourceOf, spans, type SampleLog, type SampleSpan } from './layouts/telemetry.ts';

/** A warehouse that no preset knows, with the same telemetry of two tenants in it. */
export interface FoundLayout {
  readonly name: string;
  readonly tables: readonly string[];
  readonly rows: Readonly<Record<string, readonly object[]>>;
  readonly boundary: Readonly<Record<string, string>>;
  readonly tenant?: string;
  /** Where not all twelve are right. */
  readonly is?: Readonly<Record<string, unknown>>;
}

const eachSpan = (row: (span: SampleSpan) => object) => spans.map((span) => row(span));
const eachLog = (row: (log: SampleLog) => object) => logs.map((log) => row(log));
const ends = ({ time, durationNano }: SampleSpan) =>
  new Date(Date.parse(`${time.replace(' ', 'T')}Z`) + durationNano / 1e6)
    .toISOString()
    .replace('T', ' ')
    .replace('Z', '');
const seconds = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1e3;
const uuid = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const number = (id: string) => (id === '' ? '0' : BigInt(`0x${id}`).toString());
const base64 = (id: string) => Buffer.from(id, 'hex').toString('base64');
const titled = (text: string) => text.slice(0, 1) + text.slice(1).toLowerCase();
const project = ({ tenant }: { readonly tenant: string }) => (tenant === 'acme' ? 1 : 2);
const noLogs = [
  'error lines of each service',
  'the lines of a trace',
  'lines of each hour',
  'error lines beside failed spans',
];
const noStatus = ['failed server spans of each service', 'failures of each hour'];
const noSpans = [
  'spans of each service',
  'failed server spans of each service',
  'the 95th percentile of each operation in milliseconds',
  'failures of each hour',
  'root spans, and children that find their parent',
  'a trace by its id',
  'milliseconds from beginnings to ends',
  'spans of each route',
  'error lines beside failed spans',
];
const upper = (text: string) => text.toUpperCase();

export const foundLayouts: readonly FoundLayout[] = [
  {
    name: 'hand-rolled',
    boundary: { mode: 'column', column: 'tenant' },
    tables: [
      'CREATE DATABASE obs',
      `CREATE TABLE obs.requests (ts DateTime64(3), tenant LowCardinality(String), trace_id String, span_id String, parent_id String,
         operation String, kind Enum8('server' = 1, 'client' = 2), duration_ms Float64, status LowCardinality(String), service LowCardinality(String),
         tags Map(String, String)) ENGINE = MergeTree ORDER BY (tenant, ts)`,
      `CREATE TABLE obs.messages (time DateTime64(3), tenant String, level LowCardinality(String), message String, app String, trace_id String, span_id String,
         tags Map(String, String)) ENGINE = MergeTree ORDER BY (tenant, time)`,
    ],
    rows: {
      'obs.requests': eachSpan((span) => ({
        ts: span.time,
        tenant: span.tenant,
        trace_id: upper(span.traceId),
        span_id: upper(span.spanId),
        parent_id: upper(span.parentSpanId),
        operation: span.name,
        kind: span.kind.toLowerCase(),
        duration_ms: span.durationNano / 1e6,
        status: span.status === 'ERROR' ? 'error' : 'ok',
        service: span.service,
        tags: span.attributes,
      })),
      'obs.messages': eachLog((log) => ({
        time: log.time,
        tenant: log.tenant,
        level: log.text.toLowerCase(),
        message: log.body,
        app: log.service,
        trace_id: upper(log.traceId),
        span_id: upper(log.spanId),
        tags: log.attributes,
      })),
    },
  },
  ...layouts
    .filter(({ preset }) => preset !== 'sightline' && preset !== 'clickstack')
    .map(({ name, preset, tables, rows }) => ({
      name,
      tables,
      rows: rows(),
      boundary: { mode: 'resource_attribute', key: 'tenant.id' },
      is: { preset },
    })),
  {
    name: 'Jaeger v2',
    boundary: {
      mode: 'expression',
      expression: "`resource_str_attributes.value`[indexOf(`resource_str_attributes.key`, 'tenant.id')]",
    },
    tables: [
      'CREATE DATABASE jaeger',
      `CREATE TABLE jaeger.spans (id String, trace_id String, trace_state String, parent_span_id String, name String, kind String,
         start_time DateTime64(9), status_code String, status_message String, duration Int64,
         bool_attributes Nested (key String, value Bool), double_attributes Nested (key String, value Float64),
         int_attributes Nested (key String, value Int64), str_attributes Nested (key String, value String),
         complex_attributes Nested (key String, value String), service_name String, scope_name String, scope_version String,
         resource_bool_attributes Nested (key String, value Bool), resource_str_attributes Nested (key String, value String)
       ) ENGINE = MergeTree PARTITION BY toDate(start_time) ORDER BY (trace_id)`,
    ],
    rows: {
      'jaeger.spans': eachSpan((span) => ({
        id: span.spanId,
        trace_id: span.traceId,
        parent_span_id: span.parentSpanId,
        name: span.name,
        kind: span.kind.toLowerCase(),
        start_time: span.time,
        status_code: titled(span.status),
        status_message: span.message,
        duration: span.durationNano,
        'str_attributes.key': Object.keys(span.attributes),
        'str_attributes.value': Object.values(span.attributes),
        'int_attributes.key': ['n'],
        'int_attributes.value': [7],
        service_name: span.service,
        'resource_str_attributes.key': Object.keys(resourceOf(span)),
        'resource_str_attributes.value': Object.values(resourceOf(span)),
      })),
    },
    is: { right: 8, told: noLogs },
  },
  {
    name: 'Highlight',
    boundary: { mode: 'column', column: 'ProjectId', type: 'int' },
    tenant: '1',
    tables: [
      'CREATE DATABASE highlight',
      `CREATE TABLE highlight.traces (Timestamp DateTime64(9), UUID UUID DEFAULT generateUUIDv4(), TraceId String, SpanId String, ParentSpanId String,
         ProjectId UInt32, SecureSessionId String, TraceState String, SpanName LowCardinality(String), SpanKind LowCardinality(String),
         Duration Int64, ServiceName LowCardinality(String), ServiceVersion String, Environment String, HasErrors Bool,
         TraceAttributes Map(LowCardinality(String), String), StatusCode LowCardinality(String), StatusMessage String,
         \`Events.Timestamp\` Array(DateTime64(9)), \`Events.Name\` Array(LowCardinality(String)),
         \`Events.Attributes\` Array(Map(LowCardinality(String), String))) ENGINE = MergeTree ORDER BY (ProjectId, Timestamp)`,
      `CREATE TABLE highlight.logs (Timestamp DateTime64(9), UUID UUID DEFAULT generateUUIDv4(), TraceId String, SpanId String, TraceFlags UInt32,
         SeverityText LowCardinality(String), SeverityNumber Int32, Source String, ServiceName LowCardinality(String), ServiceVersion String,
         Environment String, Body String, LogAttributes Map(LowCardinality(String), String), ProjectId UInt32, SecureSessionId String)
         ENGINE = MergeTree ORDER BY (ProjectId, Timestamp)`,
    ],
    rows: {
      'highlight.traces': eachSpan((span) => ({
        Timestamp: span.time,
        TraceId: span.traceId,
        SpanId: span.spanId,
        ParentSpanId: span.parentSpanId,
        ProjectId: project(span),
        SpanName: span.name,
        SpanKind: titled(span.kind),
        Duration: span.durationNano,
        ServiceName: span.service,
        ServiceVersion: '1.2.3',
        Environment: 'production',
        HasErrors: span.status === 'ERROR',
        TraceAttributes: span.attributes,
        StatusCode: titled(span.status),
        StatusMessage: span.message,
      })),
      'highlight.logs': eachLog((log) => ({
        Timestamp: log.time,
        TraceId: log.traceId,
        SpanId: log.spanId,
        SeverityText: log.text,
        SeverityNumber: log.severity,
        ServiceName: log.service,
        Environment: 'production',
        Body: log.body,
        LogAttributes: log.attributes,
        ProjectId: project(log),
      })),
    },
    is: { preset: 'otel-collector' },
  },
  {
    name: 'Uptrace',
    boundary: { mode: 'column', column: 'project_id', type: 'int' },
    tenant: '1',
    tables: [
      'CREATE DATABASE uptrace',
      `CREATE TABLE uptrace.spans_index (id UInt64, trace_id UUID, parent_id UInt64, project_id UInt32, group_id UInt64, type LowCardinality(String),
         system LowCardinality(String), kind LowCardinality(String), name LowCardinality(String), event_name String, display_name String,
         time DateTime, duration Int64, count Float32, status_code LowCardinality(String), status_message String,
         service_name LowCardinality(String), deployment_environment LowCardinality(String),
         attr_keys Array(LowCardinality(String)), attr_values Array(String)) ENGINE = MergeTree ORDER BY (project_id, time)`,
    ],
    rows: {
      'uptrace.spans_index': eachSpan((span) => ({
        id: number(span.spanId),
        trace_id: uuid(span.traceId),
        parent_id: number(span.parentSpanId),
        project_id: project(span),
        type: 'httpserver',
        kind: span.kind.toLowerCase(),
        name: span.name,
        time: Math.trunc(seconds(span.time)),
        duration: span.durationNano,
        status_code: span.status === 'ERROR' ? 'error' : 'ok',
        status_message: span.message,
        service_name: span.service,
        attr_keys: Object.keys(span.attributes),
        attr_values: Object.values(span.attributes),
      })),
    },
    is: { right: 8, told: noLogs },
  },
  {
    name: 'qryn, Gigapipe',
    boundary: { mode: 'column', column: 'oid' },
    tables: [
      'CREATE DATABASE qryn',
      `CREATE TABLE qryn.tempo_traces (_trace String EPHEMERAL, _span String EPHEMERAL, _parent String EPHEMERAL, oid String,
         trace_id FixedString(16) DEFAULT unhex(_trace), span_id FixedString(8) DEFAULT unhex(_span), parent_id String DEFAULT unhex(_parent),
         name String, timestamp_ns Int64, duration_ns Int64, service_name String, payload_type Int8, payload String)
         ENGINE = MergeTree PARTITION BY (oid, toDate(intDiv(timestamp_ns, 1000000000))) ORDER BY (oid, trace_id, timestamp_ns)`,
      `CREATE TABLE qryn.samples_v3 (fingerprint UInt64, timestamp_ns Int64, value Float64, string String, type UInt8)
         ENGINE = MergeTree PARTITION BY toDate(intDiv(timestamp_ns, 1000000000)) ORDER BY timestamp_ns`,
      `CREATE TABLE qryn.time_series (date Date, fingerprint UInt64, labels String, name String, metadata String, type UInt8, _org String)
         ENGINE = MergeTree PARTITION BY date ORDER BY fingerprint`,
    ],
    rows: {
      'qryn.tempo_traces': eachSpan((span) => ({
        _trace: span.traceId,
        _span: span.spanId,
        _parent: span.parentSpanId,
        oid: span.tenant,
        name: span.name,
        timestamp_ns: (BigInt(seconds(span.time)) * 1_000_000_000n).toString(),
        duration_ns: span.durationNano,
        service_name: span.service,
        payload_type: 1,
        payload: 'protobuf',
      })),
      'qryn.samples_v3': eachLog((log) => ({
        fingerprint: 1,
        timestamp_ns: (BigInt(seconds(log.time)) * 1_000_000_000n).toString(),
        string: log.body,
        type: 1,
      })),
    },
    is: { right: 5, told: [...noStatus, 'spans of each route', ...noLogs] },
  },
  {
    name: 'Sentry EAP spans',
    boundary: { mode: 'column', column: 'organization_id', type: 'int' },
    tenant: '1',
    tables: [
      'CREATE DATABASE sentry',
      `CREATE TABLE sentry.eap_spans_2_local (organization_id UInt64, project_id UInt64, service String, trace_id UUID, span_id UInt64, parent_span_id UInt64,
         segment_id UInt64, segment_name String, is_segment UInt8, start_timestamp DateTime64(6), end_timestamp DateTime64(6),
         duration_micro UInt64, exclusive_time_micro UInt64, retention_days UInt16, name String, sampling_factor Float64,
         attr_str_0 Map(String, String), attr_str_1 Map(String, String), attr_num_0 Map(String, Float64))
         ENGINE = MergeTree ORDER BY (organization_id, start_timestamp)`,
    ],
    rows: {
      'sentry.eap_spans_2_local': eachSpan((span) => ({
        organization_id: project(span),
        project_id: 7,
        service: span.service,
        trace_id: uuid(span.traceId),
        span_id: number(span.spanId),
        parent_span_id: number(span.parentSpanId),
        segment_name: span.name,
        start_timestamp: span.time,
        end_timestamp: ends(span),
        duration_micro: span.durationNano / 1e3,
        name: span.name,
        attr_str_1: span.attributes,
        attr_num_0: { n: 1.5 },
      })),
    },
    is: { right: 6, told: [...noStatus, ...noLogs] },
  },
  {
    name: 'Langfuse observations',
    boundary: { mode: 'column', column: 'project_id' },
    tables: [
      'CREATE DATABASE langfuse',
      `CREATE TABLE langfuse.observations (id String, trace_id String, project_id String, type LowCardinality(String), parent_observation_id Nullable(String),
         start_time DateTime64(3), end_time Nullable(DateTime64(3)), name String, metadata Map(LowCardinality(String), String),
         level LowCardinality(String), status_message Nullable(String), version Nullable(String), input Nullable(String), output Nullable(String),
         environment LowCardinality(String)) ENGINE = MergeTree ORDER BY (project_id, toDate(start_time), id)`,
    ],
    rows: {
      'langfuse.observations': eachSpan((span) => ({
        id: span.spanId,
        trace_id: span.traceId,
        project_id: span.tenant,
        type: 'SPAN',
        parent_observation_id: span.parentSpanId === '' ? null : span.parentSpanId,
        start_time: span.time,
        end_time: ends(span),
        name: span.name,
        metadata: span.attributes,
        level: span.status === 'ERROR' ? 'ERROR' : 'DEFAULT',
        status_message: span.message,
      })),
    },
    is: { right: 6, told: ['spans of each service', 'failed server spans of each service', ...noLogs] },
  },
  {
    name: 'Vector, Fluent Bit: logs in the zone of Berlin',
    boundary: { mode: 'column', column: 'tenant' },
    tables: [
      'CREATE DATABASE vector',
      `CREATE TABLE vector.logs (timestamp DateTime64(3, 'Europe/Berlin'), tenant String, host String, level LowCardinality(String), message String,
         service LowCardinality(String), trace_id Nullable(String), span_id Nullable(String), labels String)
         ENGINE = MergeTree ORDER BY (tenant, timestamp)`,
    ],
    rows: {
      'vector.logs': eachLog((log) => ({
        timestamp: `${seconds(log.time)}.000`,
        tenant: log.tenant,
        level: log.text.toLowerCase(),
        message: log.body,
        service: log.service,
        trace_id: log.traceId,
        span_id: log.spanId,
        labels: JSON.stringify(log.attributes),
      })),
    },
    is: { right: 3, told: noSpans },
  },
  {
    name: 'logs like those of PostHog',
    boundary: { mode: 'column', column: 'team_id', type: 'int' },
    tenant: '1',
    tables: [
      'CREATE DATABASE posthog',
      `CREATE TABLE posthog.logs (uuid String, team_id Int32, trace_id String, span_id String, trace_flags Int32, timestamp DateTime64(6),
         observed_timestamp DateTime64(6), created_at DateTime64(6), body String, severity_text String, severity_number Int32,
         service_name String, resource_attributes Map(LowCardinality(String), String), attributes_map_str Map(LowCardinality(String), String),
         attributes_map_float Map(LowCardinality(String), Float64)) ENGINE = MergeTree ORDER BY (team_id, timestamp)`,
    ],
    rows: {
      'posthog.logs': eachLog((log) => ({
        team_id: project(log),
        trace_id: base64(log.traceId),
        span_id: base64(log.spanId),
        timestamp: log.time,
        observed_timestamp: log.time,
        created_at: log.time,
        body: log.body,
        severity_text: log.text.toLowerCase(),
        severity_number: log.severity,
        service_name: log.service,
        resource_attributes: resourceOf(log),
        attributes_map_str: log.attributes,
      })),
    },
    is: { right: 3, told: noSpans },
  },
];
