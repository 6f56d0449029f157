import type { Logger } from '../../contract/core/index.ts';
import type { Cursor, QueryLimits, StatementContext, TakePlace, Telemetry } from '../../contract/telemetry/index.ts';
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
  const { telemetry, context, rendered } = execution;
  const opening = telemetry.open(rendered, limitsOf(execution), context);
  return await read(execution, await inTime(execution, opening, place), place);
}

/** The same with others that are under way, which have their places; undefined where it must be executed by itself. */
export async function executeWithOthers(execution: Execution, take: TakePlace): Promise<ReadRows | undefined> {
  const { telemetry, context, rendered } = execution;
  const opening = telemetry.openWithOthers?.(rendered, limitsOf(execution), context, take);
  const cursor = opening && (await inTime(execution, opening));
  return cursor && (await read(execution, cursor));
}

function limitsOf({ readTo, deadline }: Execution): QueryLimits {
  return { ...readTo, timeoutMs: deadline.remainingMs };
}

/** What comes too late is closed, and has its place until then. */
async function inTime<Opened extends Cursor | undefined>(
  { deadline, logger }: Execution,
  opening: Promise<Opened>,
  place?: Place,
): Promise<Opened> {
  try {
    return await deadline.race(opening);
  } catch (error) {
    if (deadline.endedBy !== undefined) {
      const closed = opening.then((late) => late && close(late, logger)).catch(() => {});
      place?.until(closed);
    }
    throw error;
  }
}

async function read(execution: Execution, cursor: Cursor, place?: Place): Promise<ReadRows> {
  const { telemetry, logger, returned, readTo, deadline } = execution;
  try {
    const rows = await readRows(cursor, returned, readTo, deadline);
    if (rows.overran) logger.warn({ dialect: telemetry.dialect.name }, 'a telemetry plugin sent more than its limits');
    return rows;
  } finally {
    // Not waited for: a plugin slow to let go does not keep the caller's answer.
    const closing = close(cursor, logger);
    if (closing !== undefined) place?.until(closing);
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
