import { logs, spans, type SampleLog, type SampleSpan } from './layouts/telemetry.ts';

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
];
