import { logs, spans, type SampleLog, type SampleSpan } from '../../telemetry-clickhouse/support/layouts/telemetry.ts';

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
];
