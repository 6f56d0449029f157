import type { TimeRange } from './time-range.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const units: Readonly<Record<string, number>> = {
  minute,
  hour: 60 * minute,
  day,
  week: 7 * day,
};
const words: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3 };
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
  if (shifted) return move(lengthOf(shifted[1], shifted[2]) * (shifted[3] === 'earlier' ? -1 : 1));

  const beside = new RegExp(`\\bthe ${span} (before|after)(?: that| it)?\\W*$`).exec(text);
  if (beside) {
    const length = lengthOf(beside[1], beside[2]);
    return beside[3] === 'before'
      ? { start: new Date(start.getTime() - length), end: start }
      : { start: end, end: new Date(end.getTime() + length) };
  }
  const length = end.getTime() - start.getTime();
  if (/\b(?:right |just )?before that\b|\b(?:go|look) back\b/.test(text)) return move(-length);
  if (/\b(?:right |just )?after that\b/.test(text)) return move(length);
  return undefined;
}

function lengthOf(count: string | undefined, unit: string | undefined): number {
  return (words[count ?? 'a'] ?? Number(count)) * (units[unit ?? ''] ?? minute);
}
