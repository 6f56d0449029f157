import { distinct } from './steps/behaviour.ts';
import type { Behaviour } from './steps/behaviour.ts';

/** Of the words of two lines, so many must be the same. */
const sameWords = 0.5;
/** Of all that went and came among lines alike, so much may be left over: rare ones of them are not among the changes. */
const leftOver = 0.5;

/**
 * Changes without those that are the same lines in new words: a release that words a line anew makes one kind of line go and
 * others like it come, in the same operation and together as often, and does nothing else.
 */
export function withoutRewordings(changes: readonly Behaviour[]): readonly Behaviour[] {
  const lines = distinct(changes);
  const reworded = (change: Behaviour): boolean => {
    const gains = lines
      .filter(({ service, operation }) => service === change.service && operation === change.operation)
      .filter(({ what }) => likeness(what, change.what) >= sameWords)
      .map(gain);
    const own = gain(change);
    // Of many lines alike the rare ones are not among the changes, so one that went for one that came is enough.
    return isEven(gains) || gains.some((other) => isEven([own, other]));
  };
  return lines.filter((change) => !reworded(change));
}

function isEven(gains: readonly number[]): boolean {
  const moved = gains.reduce((sum, one) => sum + Math.abs(one), 0);
  return Math.abs(gains.reduce((sum, one) => sum + one, 0)) <= leftOver * moved;
}

function gain({ hits, spans, hitsBefore, spansBefore }: Behaviour): number {
  return hits / spans - hitsBefore / spansBefore;
}

function likeness(a: string, b: string): number {
  const [ours, theirs] = [new Set(a.split(/\s+/)), new Set(b.split(/\s+/))];
  const shared = [...ours].filter((word) => theirs.has(word)).length;
  return shared / (ours.size + theirs.size - shared);
}
