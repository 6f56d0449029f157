/**
 * The wall clock's epoch milliseconds at a moment of `performance.now()`. A span whose start is given this way is ended this way
 * too: the SDK's own end is in whole milliseconds then, and may lie before the start.
 */
export function wallClockAt(moment: number): number {
  return performance.timeOrigin + moment;
}
