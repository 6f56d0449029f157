import type { Logger } from '../../contract/core/index.ts';
import type { Cursor, QueryLimits, StatementContext, Telemetry } from '../../contract/telemetry/index.ts';
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
