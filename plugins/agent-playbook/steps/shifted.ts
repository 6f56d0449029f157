import { binomialTail, rate, twoProportionZ } from '../statistics.ts';
import type { Row } from '../notebook.ts';

/** How long something takes, now against before. Nanoseconds. */
export interface Shift {
  readonly count: number;
  readonly median: number;
  readonly medianBefore: number;
  readonly p95: number;
  readonly p95Before: number;
  /** Share now slower than 95 % of those before. */
  readonly slowShare: number;
  /** Of that share, over the twentieth that it was. */
  readonly z: number;
  /** Stands out by size and by chance. */
  readonly worse: boolean;
}

/**
 * By construction one in twenty lies above the 95th percentile of before, so the share that lies there now is a proportion
 * that can be tested, whatever the distribution looks like. A few calls, or a time before that was not well itself, are
 * judged by how unlikely it is that so many lie above the 95th or the 75th; then the size has to be beyond doubt. Reads
 * count, slow (beyond p95_before), slower (beyond p75_before), count_before, median_nano, p95_nano and the same of before.
 */
export function readShift(row: Row): Shift {
  const slow = { hits: row.number('slow'), total: row.number('count') };
  const countBefore = row.number('count_before');
  const z = twoProportionZ(slow, { hits: countBefore * 0.05, total: countBefore });
  const [median, medianBefore] = [row.number('median_nano'), row.number('median_before_nano')];
  const [p95, p95Before] = [row.number('p95_nano'), row.number('p95_before_nano')];
  // A real slowdown is large beside what was usual and long enough for someone to notice.
  const larger = (now: number, before: number) => now >= 1.4 * before && now - before >= 2e6;
  const many = z >= 5 && rate(slow) >= 0.12 && (larger(median, medianBefore) || larger(p95, p95Before));
  const unlikely = Math.min(
    binomialTail(slow.hits, slow.total, 0.05),
    binomialTail(row.number('slower'), slow.total, 0.25),
  );
  const few = unlikely <= 1e-4 && median >= 5 * medianBefore && median - medianBefore >= 20e6;
  return {
    count: slow.total,
    median,
    medianBefore,
    p95,
    p95Before,
    slowShare: rate(slow),
    z,
    worse: many || few,
  };
}
