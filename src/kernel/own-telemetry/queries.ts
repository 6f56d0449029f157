import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Attributes, Histogram, Span, Tracer } from '@opentelemetry/api';
import type { QueryFacts, RunningQuery } from '../../contract/instruments.ts';
import { databaseSystem } from './names.ts';
import { RecordedOperation } from './operations.ts';

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

  begin({ dialect, sql, organizationId, operation }: QueryFacts): RunningQuery {
    const attributes: Attributes = { 'db.system.name': databaseSystem(dialect), 'db.operation.name': 'SELECT' };
    const since = performance.now();
    // The agent's statements, which no request waits for, are counted and not traced.
    const context = operation instanceof RecordedOperation ? operation.context : undefined;
    const span =
      context !== undefined
        ? this.#tracer?.startSpan(
            'SELECT',
            {
              kind: SpanKind.CLIENT,
              attributes: {
                ...attributes,
                'sightline.organization.id': organizationId,
                ...(this.#statements && { 'db.query.text': sql.slice(0, longestStatement).toWellFormed() }),
              },
            },
            context,
          )
        : undefined;
    return { end: (outcome) => this.#end(attributes, since, span, outcome) };
  }

  #end(
    attributes: Attributes,
    since: number,
    span: Span | undefined,
    outcome: Parameters<RunningQuery['end']>[0],
  ): void {
    const seconds = (performance.now() - since) / 1_000;
    if ('failed' in outcome) {
      this.#duration.record(seconds, { ...attributes, 'error.type': outcome.failed });
      span?.setAttribute('error.type', outcome.failed).setStatus({ code: SpanStatusCode.ERROR });
    } else {
      this.#duration.record(seconds, attributes);
      span?.setAttribute('db.response.returned_rows', outcome.rows);
    }
    span?.end();
  }
}
