const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** Between one attempt and the next, milliseconds: three days in all, then the event is given up. */
const pauses = [
  5 * second,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  20 * hour,
];

/**
 * When to try again after so many attempts; undefined when it has been tried enough. A tenth of chance keeps those that
 * failed together from coming back together.
 */
export function nextAttempt(attempts: number, now: Date, chance: () => number = Math.random): Date | undefined {
  const pause = pauses[attempts - 1];
  return pause === undefined ? undefined : new Date(now.getTime() + pause * (1 + chance() / 10));
}
