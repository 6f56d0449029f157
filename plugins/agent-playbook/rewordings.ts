import { distinct, gain, type Behaviour } from './steps/behaviour.ts';

/** Of the words of two lines, so many must be the same. */
const sameWords = 0.5;
/** Of all that went and came among lines alike, so much may be left over: rare ones of them are not among the changes. */
const leftOver = 0.5;

/**
 * Changes without mere rewordings: a release that rewords a line makes one kind of line disappear and similar ones appear, in
 * the same operation and equally often in total.
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

function likeness(a: string, b: string): number {
  const [ours, theirs] = [new Set(a.split(/\s+/)), new Set(b.split(/\s+/))];
  const shared = [...ours].filter((word) => theirs.has(word)).length;
  return shared / (ours.size + theirs.size - shared);
}
