import type { ResultColumn, Cursor, CursorEnd, QueryLimits } from '../../contract/telemetry/index.ts';
import { RowCollector } from './row-collector.ts';
import { within } from '../../contract/core/index.ts';
import { DeadlineEnded, type Deadline } from './deadline.ts';
import type { RowSet } from './rows.ts';
import { UntrustedColumns } from './untrusted.ts';

export interface ReadRows {
  readonly columns: readonly ResultColumn[];
  /** Of each, whether it may carry text written by a stranger. */
  readonly untrusted: readonly boolean[];
  readonly rows: RowSet;
  readonly end: CursorEnd;
  /** The plugin sent more than it was told to. */
  readonly overran: boolean;
}

/** How long reading goes on once there is enough to return. */
const readAheadMs = 1000;

/**
 * Reads a cursor up to `readTo`, even if the plugin ignores its limits. Past `returned` it reads ahead for a second at most,
 * and a failure there only ends the read-ahead.
 */
export async function readRows(
  cursor: Cursor,
  returned: QueryLimits,
  readTo: QueryLimits,
  deadline: Deadline,
): Promise<ReadRows> {
  const collector = new RowCollector(readTo);
  let untrusted: UntrustedColumns | undefined;
  let enoughAt: number | undefined;
  const stop = (): ReadRows => ({
    columns: cursor.columns,
    untrusted: untrusted?.marks ?? [],
    rows: collector.rowSet(),
    end: {
      ...(collector.full === undefined ? { truncated: 'rows' } : { truncated: collector.full }),
      cutCells: collector.cutCells,
    },
    overran: collector.full !== undefined || collector.cutCells > 0,
  });
  for (;;) {
    let chunk;
    try {
      const reading = cursor.read();
      if (!(reading instanceof Promise)) chunk = reading;
      else if (enoughAt === undefined) chunk = await deadline.race(reading);
      else {
        const ms = Math.max(0, enoughAt + readAheadMs - performance.now());
        chunk = await deadline.race(within(ms, reading, () => new DeadlineEnded('read-ahead')));
      }
    } catch (error) {
      if (enoughAt === undefined || (error instanceof DeadlineEnded && deadline.endedBy === 'caller')) throw error;
      return stop();
    }
    if (chunk === undefined) break;
    untrusted ??= collector.watch = new UntrustedColumns(cursor.columns);
    collector.add(chunk.json);
    if (collector.full !== undefined) return stop();
    if (enoughAt === undefined && (collector.rows > returned.maxRows || collector.bytes > returned.maxBytes)) {
      enoughAt = performance.now();
    }
  }
  const end = cursor.end ?? { cutCells: 0 };
  return {
    columns: cursor.columns,
    untrusted: (untrusted ?? new UntrustedColumns(cursor.columns)).marks,
    rows: collector.rowSet(),
    end: { ...end, cutCells: end.cutCells + collector.cutCells },
    overran: collector.cutCells > 0,
  };
}
