import { lengthOf, type TimeRange } from './time-range.ts';

const day = 86_400_000;
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
