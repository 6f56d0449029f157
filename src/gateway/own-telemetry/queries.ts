import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Attributes, Histogram, Tracer } from '@opentelemetry/api';
import type { QueryFacts, QueryOutcome } from '../../contract/core/index.ts';
import { databaseSystem } from './names.ts';
import { RecordedOperation } from './operations.ts';
import { wallClockAt } from './wall-clock.ts';

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
