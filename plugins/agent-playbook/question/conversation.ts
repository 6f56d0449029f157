import type { Assignment } from '../../../src/contract/agent/index.ts';
import type { ChatMessage } from '../../../src/contract/storage/index.ts';
import { readAsks, type Asks, type Question } from './asks.ts';
import { amount, clamp, clock, lengthOf, longest, readTimeRange, timeOf, type TimeRange } from './time-range.ts';
import { unnamedRange } from './windows.ts';

const most = 4;
const hour = 3_600_000;
const day = 24 * hour;

const stretch = `${clock}\\s*(?:utc\\s*)?(?:to|until|till|-|–)\\s*${clock}`;
const comparing = String.raw`\bcompared?\s+(?:it\s+|this\s+|that\s+)?(?:with|to)\s+`;
const named = new RegExp(`${comparing}(?:from\\s+)?${stretch}(?:\\s+and\\s+(?:with\\s+)?${stretch})*`);
const relative = new RegExp(
  `${comparing}(?:the\\s+)?(yesterday|day before|last week|week before|hour before|before)\\b|\\b(?:than|as)\\s+(?:it was\\s+|they were\\s+)?(yesterday|last week)\\b`,
);
/** "twice as many as an hour ago": the hour before is what is compared with anyway. */
const against = new RegExp(
  `\\b(?:than|as)\\s+(?:it was\\s+|they were\\s+)?(?:about\\s+)?${amount}\\s+(?:ago|before)\\b`,
);

/**
 * "compare with 13:00 to 13:30 and with …", or by what was looked at: "compare with yesterday", "… last week" at the same
 * time, "slower than yesterday", "… the hour before", "… before" right before it. Answers the question without it, too.
 */
export function readComparison(
  question: string,
  now: Date,
  looked: TimeRange,
): { readonly references: readonly TimeRange[]; readonly rest: string } {
  const text = question.toLowerCase();
  const match = named.exec(text);
  if (match) {
    const references = [...match[0].matchAll(new RegExp(stretch, 'g'))].flatMap((found) => {
      const start = timeOf(found[1], now);
      const end = timeOf(found[2], now);
      if (!start || !end || start >= end) return [];
      // Its end is all that is kept of a long one. One after the time that is asked about is as good as one before it.
      return [{ start: new Date(Math.max(start.getTime(), end.getTime() - longest)), end }];
    });
    return { references: references.slice(0, most), rest: text.replace(match[0], '') };
  }
  const [whole, ...found] = relative.exec(text) ?? [];
  const to = found.find((name) => name !== undefined);
  if (whole === undefined || to === undefined) return { references: [], rest: withoutReference(question) };
  return { references: [beside(to, looked)], rest: text.replace(whole, '') };
}

function withoutReference(question: string): string {
  const [found] = against.exec(question.toLowerCase()) ?? [];
  return found === undefined ? question : question.toLowerCase().replace(found, '');
}

function beside(to: string, { start, end }: TimeRange): TimeRange {
  const back = (from: Date, by: number): Date => new Date(from.getTime() - by);
  switch (to) {
    case 'yesterday':
    case 'day before':
      return { start: back(start, day), end: back(end, day) };
    case 'last week':
    case 'week before':
      return { start: back(start, 7 * day), end: back(end, 7 * day) };
    case 'hour before':
      return { start: back(start, hour), end: start };
    default:
      return { start: back(start, end.getTime() - start.getTime()), end: start };
  }
}

/**
 * Follows what people said about time, the oldest message first: each names a stretch, moves the one before, compares it
 * with another, or means the same as before. Times such as "the last hour" are of the moment at which they were written.
 */
export function followConversation(
  messages: readonly ChatMessage[],
  assignment: Assignment,
): Pick<Question, 'range' | 'beganAt' | 'references'> {
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
    if (index < messages.length - 1 && isAside(content, time, assignment)) continue;
    const looked = lookedBefore(time) ?? range ?? unnamedRange(assignment, messages[index - 1]?.time ?? time);
    const comparison = readComparison(content, time, looked);
    const compares = comparison.references.length > 0;
    references = comparison.references;
    const move = readMove(comparison.rest, looked);
    const moved = move && clamp(move, time);
    const named = moved ?? readTimeRange(comparison.rest, time);
    const asksForNow = index > 0 && /\b(?:right now|now|currently|at the moment)\b/i.test(comparison.rest);
    if (named === undefined && !asksForNow && !compares) continue;
    said = time;
    if (named === undefined && !asksForNow) {
      range ??= looked;
      continue;
    }
    range = named ?? { start: new Date(time.getTime() - hour), end: time, rough: true };
    beganAt = moved === undefined && /\bsince\s+\d/i.test(comparison.rest) ? named?.start : undefined;
  }
  const newest = messages.at(-1);
  if (range === undefined && assignment.incident === undefined && newest !== undefined)
    range = lookedBefore(newest.time);
  return { references, ...(range && { range }), ...(beganAt && { beganAt }) };
}

/** A number asked for beside what was found has a time of its own: `how many orders in the last 5 minutes?`. */
function isAside(content: string, time: Date, { earlier = [] }: Assignment): boolean {
  const found = earlier.filter(({ askedAt }) => askedAt < time);
  return found.length > 0 && numbers.has(readAsks(content, { earlier: found }).kind);
}

const numbers: ReadonlySet<Asks['kind']> = new Set(['count', 'health', 'state']);

const span = String.raw`(?:(\d{1,3}|an?|one|two|three)\s+)?(minute|hour|day|week)s?`;

/**
 * The stretch that a follow-up moves to, from the one that was looked at: "what about yesterday" is the same time a day
 * before, "the hour before" ends where it begins, "two hours earlier" is as long, "before that" as well. Undefined where
 * nothing is moved.
 */
export function readMove(question: string, { start, end }: TimeRange): TimeRange | undefined {
  const text = question.toLowerCase();
  const move = (by: number): TimeRange => ({
    start: new Date(start.getTime() + by),
    end: new Date(end.getTime() + by),
  });
  if (
    /\b(?:what|how) about (?:the day before )?yesterday\b|^\s*(?:and )?(?:the day before )?yesterday\W*$/.test(text)
  ) {
    return move(text.includes('day before') ? -2 * day : -day);
  }
  if (/\b(?:what|how) about last week\b|^\s*(?:and )?last week\W*$/.test(text)) return move(-7 * day);

  const shifted = new RegExp(`\\b${span} (earlier|later)\\b`).exec(text);
  if (shifted) return move((lengthOf(shifted[1] ?? 'a', shifted[2]) ?? 0) * (shifted[3] === 'earlier' ? -1 : 1));

  const beside = new RegExp(`\\bthe ${span} (before|after)(?: that| it)?\\W*$`).exec(text);
  if (beside) {
    const length = lengthOf(beside[1] ?? 'a', beside[2]) ?? 0;
    return beside[3] === 'before'
      ? { start: new Date(start.getTime() - length), end: start }
      : { start: end, end: new Date(end.getTime() + length) };
  }
  const length = end.getTime() - start.getTime();
  if (/\b(?:right |just )?before that\b|\b(?:go|look) back\b/.test(text)) return move(-length);
  if (/\b(?:right |just )?after that\b/.test(text)) return move(length);
  return undefined;
}
