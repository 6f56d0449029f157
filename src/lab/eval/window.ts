import type { Fault } from './faults.ts';

export interface Stretch {
  readonly start: Date;
  readonly end: Date;
}

const minute = 60_000;
/** What a fault leaves behind is over by then. */
const aftermath = 3 * minute;
const longestBefore = 15 * minute;
/** So much of the time before the fault stays in the window, however its start is moved. */
const leastBefore = minute;

/** From the fault before to the next. The seed moves the start, so that the middle tells nothing. */
export function windowOf(faults: readonly Fault[], index: number, lastSeen: Date, seed: number): Stretch {
  const at = timeAt(faults, index) ?? 0;
  const previous = timeAt(faults, index - 1);
  const earliest = Math.max(previous === undefined ? -Infinity : previous + aftermath, at - longestBefore);
  const latest = Math.max(earliest, at - leastBefore);
  const start = earliest + fraction(seed, index) * (latest - earliest);
  const end = timeAt(faults, index + 1) ?? Math.max(lastSeen.getTime(), at + longestBefore);
  return { start: new Date(Math.round(start)), end: new Date(end) };
}

function timeAt(faults: readonly Fault[], index: number): number | undefined {
  return faults[index]?.injectedAt.getTime();
}

/** 0 to 1, the same for the same seed and case (a round of splitmix32). */
function fraction(seed: number, index: number): number {
  let mixed = (seed * 0x9e3779b9 + (index + 1) * 0x85ebca6b) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
