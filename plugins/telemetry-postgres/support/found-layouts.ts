import {
  logs,
  resourceOf,
  spans,
  type SampleLog,
  type SampleSpan,
} from '../../telemetry-clickhouse/support/layouts/telemetry.ts';

/** A database that no preset knows, with the same telemetry of two tenants in it. */
export interface FoundLayout {
  readonly name: string;
  readonly tables: string;
  readonly rows: Readonly<Record<string, readonly object[]>>;
  readonly boundary: Readonly<Record<string, string>>;
  readonly tenant?: string;
  /** Where not all twelve are right. */
  readonly is?: Readonly<Record<string, unknown>>;
}

const eachSpan = (row: (span: SampleSpan) => object) => spans.map((span) => row(span));
const eachLog = (row: (log: SampleLog) => object) => logs.map((log) => row(log));

const noLogs = [
  'error lines of each service',
  'the lines of a trace',
  'lines of each hour',
  'error lines beside failed spans',
];
const nanos = (time: string) => (BigInt(Date.parse(`${time.replace(' ', 'T')}Z`)) * 1_000_000n).toString();
const ends = ({ time, durationNano }: SampleSpan) => (BigInt(nanos(time)) + BigInt(durationNano)).toString();
const uuid = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const number = (id: string) => (id === '' ? null : BigInt(`0x${id}`).toString());
const bytes = (id: string) => (id === '' ? null : String.raw`\x${id}`);
const moment = (of: string) => new Date(Number(BigInt(of) / 1_000_000n)).toISOString();
const pairs = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
const tenantIds: Readonly<Record<string, string>> = {
  acme: '11111111-2222-4333-8444-555555555555',
  globex: '99999999-2222-4333-8444-555555555555',
};

export const foundLayouts: readonly FoundLayout[] = [
  {
    name: "the guide's own example",
    boundary: { mode: 'column', column: 'customer' },
    tables: `CREATE SCHEMA obs;
      CREATE TABLE obs.requests (
        began timestamptz NOT NULL, micros bigint NOT NULL, customer text NOT NULL, app text NOT NULL,
        operation text NOT NULL, failed boolean NOT NULL, trace text NOT NULL, span text NOT NULL, parent text, tags jsonb NOT NULL);
      CREATE TABLE obs.app_log (
        at timestamptz NOT NULL, customer text NOT NULL, app text NOT NULL, level text NOT NULL, line text NOT NULL, tags jsonb NOT NULL);`,
    rows: {
      'obs.requests': eachSpan((span) => ({
        began: `${span.time}Z`,
        micros: span.durationNano / 1e3,
        customer: span.tenant,
        app: span.service,
        operation: span.name,
        failed: span.status === 'ERROR',
        trace: span.traceId,
        span: span.spanId,
        parent: span.parentSpanId === '' ? null : span.parentSpanId,
        tags: span.attributes,
      })),
      'obs.app_log': eachLog((log) => ({
        at: `${log.time}Z`,
        customer: log.tenant,
        app: log.service,
        level: log.text.toLowerCase(),
        line: log.body,
        tags: log.attributes,
      })),
    },
    is: {
      right: 9,
      told: ['failed server spans of each service', 'the lines of a trace', 'error lines beside failed spans'],
    },
  },
  {
    name: 'Promscale',
    boundary: { mode: 'resource_attribute', key: 'tenant.id' },
    tables: `CREATE SCHEMA ps_trace;
      CREATE DOMAIN ps_trace.trace_id AS uuid;
      CREATE TYPE ps_trace.span_kind AS ENUM ('unspecified', 'internal', 'server', 'client', 'producer', 'consumer');
      CREATE TYPE ps_trace.status_code AS ENUM ('unset', 'ok', 'error');
      CREATE TABLE ps_trace.span (
        trace_id ps_trace.trace_id, span_id bigint, trace_state text, parent_span_id bigint, is_root_span boolean, service_name text, span_name text,
        span_kind ps_trace.span_kind, start_time timestamptz, end_time timestamptz, duration_ms double precision, span_tags jsonb,
        event_names text[], status_code ps_trace.status_code, status_message text, resource_tags jsonb);`,
    rows: {
      'ps_trace.span': eachSpan((span) => ({
        trace_id: uuid(span.traceId),
        span_id: number(span.spanId),
        parent_span_id: number(span.parentSpanId),
        service_name: span.service,
        span_name: span.name,
        span_kind: span.kind.toLowerCase(),
        start_time: moment(nanos(span.time)),
        end_time: moment(ends(span)),
        duration_ms: span.durationNano / 1e6,
        span_tags: span.attributes,
        status_code: span.status.toLowerCase(),
        resource_tags: resourceOf(span),
      })),
    },
    is: { right: 8, told: noLogs },
  },
  {
    name: 'OTLP as it comes',
    boundary: { mode: 'column', column: 'tenant_id', type: 'uuid' },
    tenant: tenantIds['acme'] ?? '',
    tables: `CREATE SCHEMA otlp;
      CREATE TABLE otlp.spans (
        tenant_id uuid NOT NULL, trace_id bytea NOT NULL, span_id bytea NOT NULL, parent_span_id bytea, name text NOT NULL, kind smallint NOT NULL,
        start_time_unix_nano bigint NOT NULL, end_time_unix_nano bigint NOT NULL, status_code smallint NOT NULL, status_message text,
        attributes jsonb NOT NULL, resource_attributes jsonb NOT NULL);
      CREATE TABLE otlp.logs (
        tenant_id uuid NOT NULL, time_unix_nano bigint NOT NULL, severity_number smallint NOT NULL, severity_text text, body text,
        trace_id bytea, span_id bytea, attributes jsonb NOT NULL, resource_attributes jsonb NOT NULL);`,
    rows: {
      'otlp.spans': eachSpan((span) => ({
        tenant_id: tenantIds[span.tenant],
        trace_id: bytes(span.traceId),
        span_id: bytes(span.spanId),
        parent_span_id: bytes(span.parentSpanId),
        name: span.name,
        kind: span.kind === 'SERVER' ? 2 : 3,
        start_time_unix_nano: nanos(span.time),
        end_time_unix_nano: ends(span),
        status_code: span.status === 'ERROR' ? 2 : 0,
        attributes: pairs(span.attributes),
        resource_attributes: pairs(resourceOf(span)),
      })),
      'otlp.logs': eachLog((log) => ({
        tenant_id: tenantIds[log.tenant],
        time_unix_nano: nanos(log.time),
        severity_number: log.severity,
        severity_text: log.text,
        body: log.body,
        trace_id: bytes(log.traceId),
        span_id: bytes(log.spanId),
        attributes: pairs(log.attributes),
        resource_attributes: pairs(resourceOf(log)),
      })),
    },
  },
  {
    name: 'Fluent Bit',
    boundary: { mode: 'expression', expression: "data ->> 'tenant'" },
    tables: 'CREATE TABLE public.fluentbit (tag varchar, time timestamp, data jsonb);',
    rows: {
      'public.fluentbit': eachLog((log) => ({
        tag: 'app',
        time: log.time,
        data: {
          log: log.body,
          level: log.text.toLowerCase(),
          service: log.service,
          tenant: log.tenant,
          trace_id: log.traceId,
        },
      })),
    },
    is: {
      right: 3,
      told: [
        'spans of each service',
        'failed server spans of each service',
        'the 95th percentile of each operation in milliseconds',
        'failures of each hour',
        'root spans, and children that find their parent',
        'a trace by its id',
        'milliseconds from beginnings to ends',
        'spans of each route',
        'error lines beside failed spans',
      ],
    },
  },
  {
    name: 'partitioned, in camel case, without zones',
    boundary: { mode: 'column', column: 'TenantName' },
    tables: `CREATE SCHEMA apm;
      CREATE TYPE apm.outcome AS ENUM ('Success', 'Failure');
      CREATE TABLE apm."Requests" (
        "TenantName" text NOT NULL, "StartTime" timestamp NOT NULL, "TraceId" text NOT NULL, "SpanId" text NOT NULL, "ParentId" text,
        "OperationName" text NOT NULL, "SpanKind" text, "Status" apm.outcome NOT NULL, "DurationMs" numeric NOT NULL, "ServiceName" text NOT NULL,
        "ClientIp" inet, "Tags" json) PARTITION BY RANGE ("StartTime");
      CREATE TABLE apm."Requests_a" PARTITION OF apm."Requests" FOR VALUES FROM ('2026-03-01') TO ('2026-03-02');
      CREATE TABLE apm."Requests_b" PARTITION OF apm."Requests" FOR VALUES FROM ('2026-03-02') TO ('2027-01-01');
      CREATE TABLE apm."Hosts" ("Time" timestamp, "TenantName" text, "Host" text, "Cpu" double precision, "Memory" double precision);`,
    rows: {
      'apm."Requests"': eachSpan((span) => ({
        TenantName: span.tenant,
        StartTime: span.time,
        TraceId: span.traceId,
        SpanId: span.spanId,
        ParentId: span.parentSpanId === '' ? null : span.parentSpanId,
        OperationName: span.name,
        SpanKind: `SPAN_KIND_${span.kind}`,
        Status: span.status === 'ERROR' ? 'Failure' : 'Success',
        DurationMs: span.durationNano / 1e6,
        ServiceName: span.service,
        ClientIp: '10.0.0.1',
        Tags: span.attributes,
      })),
    },
    is: { right: 8, told: noLogs },
  },
  {
    name: 'Inngest',
    boundary: { mode: 'column', column: 'account_id' },
    tables: `CREATE TABLE public.spans (
        span_id char(16) NOT NULL, trace_id char(32) NOT NULL, parent_span_id char(16), name text NOT NULL, start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL, run_id text NOT NULL, dynamic_span_id text, account_id text NOT NULL, app_id text NOT NULL, function_id text NOT NULL,
        env_id text NOT NULL, output json, attributes json, links json);`,
    rows: {
      'public.spans': eachSpan((span) => ({
        span_id: span.spanId,
        trace_id: span.traceId,
        parent_span_id: span.parentSpanId === '' ? null : span.parentSpanId,
        name: span.name,
        start_time: moment(nanos(span.time)),
        end_time: moment(ends(span)),
        run_id: 'r',
        account_id: span.tenant,
        app_id: span.service,
        function_id: 'f',
        env_id: 'e',
        attributes: span.attributes,
      })),
    },
    is: {
      right: 5,
      told: ['spans of each service', 'failed server spans of each service', 'failures of each hour', ...noLogs],
    },
  },
];
