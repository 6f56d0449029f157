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

/** What varies from line to line, in the order in which it is masked. RE2, PCRE and POSIX read these alike. */
const masks: readonly (readonly [pattern: string, mask: string])[] = [
  ['[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}', '<uuid>'],
  ['[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+', '<email>'],
  ['[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}(:[0-9]+)?', '<ip>'],
  ['0x[0-9a-fA-F]+|[0-9a-fA-F]*[0-9][0-9a-fA-F]{10,}', '<hex>'],
  ['[0-9]+([.,:][0-9]+)*', '<n>'],
];

/** The beginning of a text with its variable parts masked, so that lines of one kind are counted together. */
export function masked(write: DialectWriter, column: string, length: number): string {
  return masks.reduce(
    (text, [pattern, mask]) => write.replaceRegexp(text, pattern, mask),
    `substr(${column}, 1, ${length})`,
  );
}

/** How many rows of before the same rate would have made now: windows of different length are compared by their time. */
export function scaleOf({ now, before }: Windows): number {
  return before === undefined ? 0 : lengthOf(now) / lengthOf(before);
}

export function lengthOf({ start, end }: TimeRange): number {
  return end.getTime() - start.getTime();
}
