import type { Cursor, Logger, QueryLimits, StatementContext, Telemetry } from '../contract/index.ts';
import type { Deadline } from './deadline.ts';
import type { Place } from './places.ts';
import { readRows } from './read-rows.ts';
import type { ReadRows } from './read-rows.ts';

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
  /** Kept until the cursor is closed. */
  readonly place: Place;
}

/** Opens a cursor and reads it; it is closed whatever happens, even when it comes after the deadline. */
export async function execute(execution: Execution): Promise<ReadRows> {
  const { telemetry, logger, context, rendered, returned, readTo, deadline, place } = execution;
  const limits = { ...readTo, timeoutMs: deadline.remainingMs };
  const opening = telemetry.open(rendered, limits, context);
  let cursor;
  try {
    cursor = await deadline.race(opening);
  } catch (error) {
    if (deadline.endedBy !== undefined) place.until(opening.then((late) => close(late, logger)).catch(() => {}));
    throw error;
  }
  try {
    const read = await readRows(cursor, returned, readTo, deadline);
    if (read.overran) logger.warn({ dialect: telemetry.dialect.name }, 'a telemetry plugin sent more than its limits');
    return read;
  } finally {
    // Not waited for: a plugin slow to let go does not keep the caller's answer.
    const closing = close(cursor, logger);
    if (closing !== undefined) place.until(closing);
  }
}

function close(cursor: Cursor, logger: Logger): Promise<void> | undefined {
  const failed = (error: unknown): void => logger.warn({ err: error }, 'closing a cursor failed');
  try {
    return cursor.close()?.catch(failed);
  } catch (error) {
    failed(error);
    return undefined;
  }
}
