import type { Assignment } from '../../../src/contract/agent/index.ts';
import type { ChatMessage } from '../../../src/contract/storage/index.ts';
import { readComparison } from './comparison.ts';
import { readMove } from './move.ts';
import { clamp, readTimeRange } from './time-range.ts';
import type { TimeRange } from './time-range.ts';
import { unnamedRange } from './windows.ts';

/** Which time is meant, and what it is compared with, after all that was said. */
export interface Meant {
  readonly range?: TimeRange;
  /** `… since 14:00`: the person says when it began. */
  readonly beganAt?: Date;
  readonly references: readonly TimeRange[];
}

/**
 * Follows what people said about time, the oldest message first: each names a stretch, moves the one before, compares it
 * with another, or means the same as before. Times such as "the last hour" are of the moment at which they were written.
 */
export function followConversation(messages: readonly ChatMessage[], assignment: Assignment): Meant {
  let range: TimeRange | undefined;
  let beganAt: Date | undefined;
  let references: readonly TimeRange[] = [];
  let said: Date | undefined;
  const lookedBefore = (time: Date): TimeRange | undefined => {
    const found = assignment.earlier?.find(({ askedAt, conclusion }) => askedAt < time && conclusion.window);
    const window = found?.conclusion.window;
    // What was found answers the newest wish, or there was none.
    if (found === undefined || window === undefined || (said !== undefined && found.askedAt < said)) return undefined;
    return { start: new Date(window.start), end: new Date(window.end) };
  };
  for (const [index, { content, time }] of messages.entries()) {
    const looked = lookedBefore(time) ?? range ?? unnamedRange(assignment, messages[index - 1]?.time ?? time);
    const comparison = readComparison(content, time, looked);
    const compares = comparison.references.length > 0;
    if (compares) references = comparison.references;
    const moved = clamped(readMove(comparison.rest, looked), time);
    const named = moved ?? readTimeRange(comparison.rest, time);
    const asksForNow = index > 0 && /\b(?:right now|now|currently|at the moment)\b/i.test(comparison.rest);
    if (named === undefined && !asksForNow && !compares) continue;
    said = time;
    if (named === undefined && !asksForNow) {
      range ??= looked;
      continue;
    }
    range = named ?? { start: new Date(time.getTime() - hour), end: time };
    beganAt = moved === undefined && /\bsince\s+\d/i.test(comparison.rest) ? named?.start : undefined;
    if (moved !== undefined || named === undefined) references = compares ? references : [];
  }
  const newest = messages.at(-1);
  if (range === undefined && assignment.incident === undefined && newest !== undefined)
    range = lookedBefore(newest.time);
  return { references, ...(range && { range }), ...(beganAt && { beganAt }) };
}

const hour = 3_600_000;

function clamped(range: TimeRange | undefined, now: Date): TimeRange | undefined {
  return range && clamp(range, now);
}
