import type { DialectWriter } from '../../src/contract/index.ts';
import type { Focus } from './question/question.ts';
import type { TimeRange } from './question/time-range.ts';

/** The two stretches that are compared. */
export interface Windows {
  readonly now: TimeRange;
  /** Undefined when there is no telemetry from before. */
  readonly before: TimeRange | undefined;
}

export function within(write: DialectWriter, column: string, { start, end }: TimeRange): string {
  return `(${column} >= ${write.literal(start)} AND ${column} < ${write.literal(end)})`;
}

/** Rows of either stretch; plain comparisons at the top, so that the service finds the time bounds and the engine prunes. */
export function eitherWindow(write: DialectWriter, column: string, windows: Windows): string {
  const { now, before } = windows;
  if (before === undefined) return within(write, column, now).slice(1, -1);
  const start = before.start < now.start ? before.start : now.start;
  const end = before.end > now.end ? before.end : now.end;
  return within(write, column, { start, end }).slice(1, -1);
}

/** True for rows of the earlier stretch; never true where there is none. */
export function isBefore(write: DialectWriter, column: string, { before }: Windows): string {
  return before === undefined ? '1 = 0' : within(write, column, before);
}

export function inList(write: DialectWriter, column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => write.literal(value)).join(', ')})`;
}

/** ` AND service_name IN (…)` when only some services are wanted. */
export function onlyFocus(write: DialectWriter, focus: Focus, column = 'service_name'): string {
  return focus.only && focus.services.length > 0 ? ` AND ${inList(write, column, focus.services)}` : '';
}

/** Spans of work that a service did itself; its outgoing calls are counted where they arrive. */
export function ownWork(column = 'kind'): string {
  return `${column} NOT IN ('CLIENT', 'PRODUCER')`;
}
