import { clock, longest, timeOf } from './time-range.ts';
import type { TimeRange } from './time-range.ts';

const most = 4;
const day = 86_400_000;

/** What a question names to compare with, and the question without it. */
export interface Comparison {
  readonly references: readonly TimeRange[];
  readonly rest: string;
}

const stretch = `${clock}\\s*(?:utc\\s*)?(?:to|until|till|-|–)\\s*${clock}`;
const comparing = String.raw`\bcompared?\s+(?:it\s+|this\s+|that\s+)?(?:with|to)\s+`;
const named = new RegExp(`${comparing}(?:from\\s+)?${stretch}(?:\\s+and\\s+(?:with\\s+)?${stretch})*`);
const relative = new RegExp(
  `${comparing}(?:the\\s+)?(yesterday|day before|last week|week before|hour before|before)\\b`,
);

/**
 * "compare with 13:00 to 13:30 and with …", or by what was looked at: "compare with yesterday", "… last week" at the same
 * time, "… the hour before", "… before" right before it.
 */
export function readComparison(question: string, now: Date, looked: TimeRange): Comparison {
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
  const [whole, to] = relative.exec(text) ?? [];
  if (whole === undefined || to === undefined) return { references: [], rest: question };
  return { references: [beside(to, looked)], rest: text.replace(whole, '') };
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
      return { start: back(start, 3_600_000), end: start };
    default:
      return { start: back(start, end.getTime() - start.getTime()), end: start };
  }
}
