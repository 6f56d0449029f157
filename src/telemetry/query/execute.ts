import { randomUUID } from 'node:crypto';
import { SightlineError, type Logger, type OrganizationId, type SpanIds } from '../../contract/core/index.ts';
import type { Cursor, QueryLimits, StatementContext, Telemetry, TableName } from '../../contract/telemetry/index.ts';
import type { Deadline } from './deadline.ts';
import type { Place } from './places.ts';
import { readRows, type ReadRows } from './read-rows.ts';
import { repair, timedOut, type FailedQuery } from './repair.ts';
import type { QueryWindow } from './result.ts';

/** How far a query came. */
export interface Progress {
  step: 'size' | 'command' | 'parse' | 'check' | 'render' | 'open' | 'result';
  /** Known once the statement was checked. */
  tables: readonly TableName[] | undefined;
  /** What was asked for, and once the statement was checked, what it is shown. */
  window: QueryWindow | undefined;
}

interface Failure extends FailedQuery {
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

export interface Execution {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly context: StatementContext;
  readonly rendered: string;
  /** What the caller gets. */
  readonly returned: QueryLimits;
  /** How far reading goes; at least as far. */
  readonly readTo: QueryLimits;
  readonly deadline: Deadline;
}

/**
 * Opens a cursor and reads it; it is closed whatever happens, even when it comes after the deadline.
 * @param place kept until the cursor is closed.
 */
export async function execute(execution: Execution, place: Place): Promise<ReadRows> {
  const { telemetry, logger, context, rendered, returned, readTo, deadline } = execution;
  const opening = telemetry.open(rendered, { ...readTo, timeoutMs: deadline.remainingMs }, context);
  const cursor = await inTime(execution, opening, place);
  try {
    const rows = await readRows(cursor, returned, readTo, deadline);
    if (rows.overran) logger.warn({ dialect: telemetry.dialect.name }, 'a telemetry plugin sent more than its limits');
    return rows;
  } finally {
    // Not waited for: a plugin slow to let go does not keep the caller's answer.
    const closing = close(cursor, logger);
    if (closing !== undefined) place.until(closing);
  }
}

/** A cursor that comes too late is closed, and has its place until then. */
async function inTime({ deadline, logger }: Execution, opening: Promise<Cursor>, place: Place): Promise<Cursor> {
  try {
    return await deadline.race(opening);
  } catch (error) {
    if (deadline.endedBy !== undefined) place.until(opening.then((late) => close(late, logger)).catch(() => {}));
    throw error;
  }
}

function close(cursor: Cursor, logger: Logger): Promise<void> | undefined {
  const failed = (error: unknown): void => logger.warn({ error }, 'closing a cursor failed');
  try {
    return cursor.close()?.catch(failed);
  } catch (error) {
    failed(error);
    return undefined;
  }
}
