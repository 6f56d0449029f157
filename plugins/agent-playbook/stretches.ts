import type { TimeRange } from './question/time-range.ts';

/** The two stretches that are compared. */
export interface Windows {
  readonly now: TimeRange;
  /** Undefined when there is no telemetry from before. */
  readonly before: TimeRange | undefined;
  /** Stretches that a person named as usual; part of what is compared with. */
  readonly references: readonly TimeRange[];
}

/** Everything that the present stretch is compared with. */
export function usual({ before, references }: Windows): readonly TimeRange[] {
  return before === undefined ? references : [before, ...references];
}

/** How many rows of before the same rate would have made now: windows of different length are compared by their time. */
export function scaleOf(windows: Windows): number {
  const length = usual(windows).reduce((sum, range) => sum + lengthOf(range), 0);
  return length === 0 ? 0 : lengthOf(windows.now) / length;
}

export function lengthOf({ start, end }: TimeRange): number {
  return end.getTime() - start.getTime();
}
