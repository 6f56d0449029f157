import { randomUUID } from 'node:crypto';
import { SightlineError } from '../../contract/core/index.ts';
import type { Logger, OrganizationId, SpanIds } from '../../contract/core/index.ts';
import type { TableName } from '../../contract/telemetry/index.ts';
import type { Deadline } from './deadline.ts';
import { repair, timedOut } from './repair.ts';
import type { FailedQuery } from './repair.ts';
import type { QueryWindow } from './result.ts';

/** How far a query came. */
export interface Progress {
  step: 'size' | 'command' | 'parse' | 'check' | 'render' | 'open' | 'result';
  /** Known once the statement was checked. */
  tables: readonly TableName[] | undefined;
  /** What was asked for, and once the statement was checked, what it is shown. */
  window: QueryWindow | undefined;
}

export interface Failure extends FailedQuery {
  readonly step: Progress['step'];
  readonly endedBy: Deadline['endedBy'];
  readonly organizationId: OrganizationId;
  readonly requestId: string | undefined;
  /** Of the request, where it has one. */
  readonly span: SpanIds | undefined;
  readonly logger: Logger;
}

/** Turns whatever was thrown into what the caller may see. The true cause goes to the log under the request's id. */
export function explainFailure(error: unknown, failure: Failure): SightlineError {
  const { organizationId, step, endedBy, logger, requestId = randomUUID(), span } = failure;
  if (endedBy === 'caller') return new SightlineError('query_cancelled', 'The query was cancelled.');
  const fields = {
    request_id: requestId,
    organizationId,
    step,
    ...(span && { trace_id: span.traceId, span_id: span.spanId }),
  };
  if (endedBy === 'timeout') {
    logger.info(fields, 'a query was stopped at its deadline');
    return timedOut(failure, error);
  }
  if (error instanceof SightlineError) {
    if (error.cause !== undefined) logger.info({ ...fields, code: error.code, error: error.cause }, 'a query failed');
    return repair(error, failure);
  }
  logger.error({ ...fields, error }, 'a query failed unexpectedly');
  return step === 'open'
    ? new SightlineError('telemetry_unavailable', 'The warehouse could not answer.', {
        hint: `Try again. The cause is in the log under request ${requestId}.`,
        cause: error,
      })
    : new SightlineError('internal', 'The query could not be handled.', {
        hint: `The cause is in the log under request ${requestId}.`,
        cause: error,
      });
}
