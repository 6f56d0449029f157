import { SpanKind, SpanStatusCode, type Attributes, type Meter, type Histogram, type Tracer } from '@opentelemetry/api';
import type { Instruments, QueryFacts, QueryOutcome } from '../../contract/core/index.ts';
import { httpMethod, databaseSystem, Operations, RecordedOperation, wallClockAt, type Traces } from './operations.ts';

const longestStatement = 4_000;

/** Statements at the warehouse by the database conventions: a span of kind CLIENT and a duration. */
export class Queries {
  readonly #duration: Histogram;
  readonly #tracer: Tracer | undefined;
  readonly #statements: boolean;

  /** @param statements whether spans hold the SQL. */
  constructor(duration: Histogram, tracer: Tracer | undefined, statements: boolean) {
    this.#duration = duration;
    this.#tracer = tracer;
    this.#statements = statements;
  }

  record({ dialect, sql, organizationId, operation }: QueryFacts, since: number, outcome: QueryOutcome): void {
    const now = performance.now();
    const attributes: Attributes = { 'db.system.name': databaseSystem(dialect), 'db.operation.name': 'SELECT' };
    const failed = 'failed' in outcome ? { 'error.type': outcome.failed } : undefined;
    this.#duration.record((now - since) / 1_000, { ...attributes, ...failed });
    const context = operation instanceof RecordedOperation ? operation.context : undefined;
    // The agent's statements, which no request waits for, are counted and not traced.
    if (this.#tracer === undefined || context === undefined) return;
    const span = this.#tracer.startSpan(
      'SELECT',
      {
        kind: SpanKind.CLIENT,
        attributes: {
          ...attributes,
          'sightline.organization.id': organizationId,
          ...(this.#statements && { 'db.query.text': sql.slice(0, longestStatement).toWellFormed() }),
          ...('failed' in outcome ? failed : { 'db.response.returned_rows': outcome.rows }),
        },
        startTime: wallClockAt(since),
      },
      context,
    );
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(wallClockAt(now));
  }
}

/** What is read when metrics are collected. */
export interface Gauges {
  readonly queries: { readonly waiting: number; readonly running: number };
  readonly audit: { readonly pending: number; readonly blocked: number };
  /** Undefined where the warehouse has no engines of its own. */
  readonly enginesOpen: number | undefined;
  /** Received and not yet in the warehouse. */
  readonly ingestWaitingBytes: number;
  readonly unwell: () => Promise<number>;
}

export function observeGauges(meter: Meter, gauges: Gauges): void {
  type Read = () => number | undefined | Promise<number>;
  const observe = (name: string, read: Read, unit: string, description: string): void =>
    meter.createObservableGauge(`sightline.${name}`, { description, unit }).addCallback(async (result) => {
      const value = await read();
      if (value !== undefined) result.observe(value);
    });
  const { queries, audit } = gauges;
  const blocked = 'Organizations that are refused since their audit cannot be written';
  const ingest = 'Telemetry received and not yet in the warehouse';
  observe('query.queue.waiting', () => queries.waiting, '{query}', 'Queries that wait for a place');
  observe('query.running', () => queries.running, '{query}', 'Queries that have a place');
  observe('audit.pending', () => audit.pending, '{record}', 'Audit records promised or not yet written');
  observe('audit.blocked', () => audit.blocked, '{organization}', blocked);
  observe('engines.open', () => gauges.enginesOpen, '{engine}', 'Engines of organizations that run');
  observe(
    'components.unwell',
    gauges.unwell,
    '{component}',
    'Components that do not work, storage and warehouse among them',
  );
  observe('ingest.waiting', () => gauges.ingestWaitingBytes, 'By', ingest);
}

/** As each convention advises. */
const buckets = {
  mcp: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
  http: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  database: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  investigation: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_200],
} as const;

/** `traces` is undefined where no spans are made; `statements` says whether spans hold the SQL of a query. */
export function createInstruments(meter: Meter, traces: Traces | undefined, statements: boolean): Instruments {
  const seconds = (name: string, description: string, boundaries: readonly number[]) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: [...boundaries] } });

  const operations = new Operations(
    seconds('mcp.server.operation.duration', 'From an MCP request or notification to its answer', buckets.mcp),
    traces,
  );
  const queries = new Queries(
    seconds('db.client.operation.duration', 'A statement at the warehouse, with reading its rows', buckets.database),
    traces?.tracer,
    statements,
  );
  const http = seconds('http.server.request.duration', 'From an HTTP request to the end of its answer', buckets.http);
  const waits = seconds(
    'sightline.query.queue.wait.duration',
    'How long queries waited for a place, of those that had to wait',
    buckets.database,
  );
  const investigations = seconds(
    'sightline.investigation.duration',
    'A run of an investigation, to its answer or its failure',
    buckets.investigation,
  );
  const refused = meter.createCounter('sightline.requests.refused', {
    description: 'Requests answered with 429 or 503, by who refused and why',
    unit: '{request}',
  });
  const records = meter.createCounter('sightline.ingest.records', {
    description: 'Spans, data points and log records that were sent here',
    unit: '{record}',
  });

  return {
    operation: (facts) => operations.begin(facts),
    queried: (facts, since, outcome) => queries.record(facts, since, outcome),
    queued: (since) => waits.record((performance.now() - since) / 1_000),
    httpRequest(method, route, status, since) {
      const attributes: Attributes = { 'http.request.method': httpMethod(method), 'url.scheme': 'http' };
      if (route !== undefined) attributes['http.route'] = route;
      if (status === undefined) attributes['error.type'] = 'client_gone';
      else attributes['http.response.status_code'] = status;
      if (status !== undefined && status >= 500) attributes['error.type'] = String(status);
      http.record((performance.now() - since) / 1_000, attributes);
    },
    refused: (by, reason) => refused.add(1, { 'sightline.refused.by': by, 'sightline.error.code': reason }),
    ingested(signal, accepted, rejected) {
      if (accepted > 0) records.add(accepted, { 'sightline.signal': signal, outcome: 'accepted' });
      if (rejected > 0) records.add(rejected, { 'sightline.signal': signal, outcome: 'rejected' });
    },
    investigated: (outcome, since) => investigations.record((performance.now() - since) / 1_000, { outcome }),
  };
}
