import type { DialectWriter } from '../../src/contract/telemetry/index.ts';

/**
 * The thresholds of the ranking, in one place, so that `bench/cross-validate.ts` can fit them on one part of labelled faults
 * and test on another. bench/investigation.md explains each.
 */
export const thresholds = {
  /** Robust deviations from the baseline from which a gauge alone names a cause. */
  exhausted: 30,
  /** G from which on changed behaviour counts where a person says that something is wrong. */
  changedIfSaid: 8,
  /** A called service takes the blame if its G is at least this share of its caller's. */
  changedAlike: 0.3,
  /** A called service takes the blame if it added at least this share of its caller's added time: a waiting caller looks slow. */
  addedAlike: 0.3,
  /** Share of the requests' total time below which a slowdown is not noticed. */
  noticed: 0.1,
  /** Seconds. What a thing looks like is seen so soon after it began: it may be over again long before the range is. */
  aftermath: 300,
  /** So many beginnings are tried where nothing but behaviour changed. */
  beginnings: 3,
  /** From so many chunks on G is divided by how much they scatter: a handful says little of it. */
  fewestChunks: 4,
};

/**
 * G of a 2 × 2 table as SQL: `k` of `n` now against `k0` of `n0` before, all column names. Under chance it is distributed as
 * chi-squared with one degree of freedom, and unlike a difference of rates it is not misled by small counts.
 */
export function gStatistic(write: DialectWriter, table: Readonly<Record<'k' | 'n' | 'k0' | 'n0', string>>): string {
  const { k, n, k0, n0 } = table;
  const cell = (count: string, side: string, both: string): string =>
    `CASE WHEN ${count} > 0 THEN ${count} * ln(${write.ratio(`(${count}) * (${n} + ${n0})`, `(${side}) * (${both})`)}) ELSE 0 END`;
  return `2 * (${cell(k, n, `${k} + ${k0}`)} + ${cell(k0, n0, `${k} + ${k0}`)} + ${cell(`(${n} - ${k})`, n, `${n} + ${n0} - ${k} - ${k0}`)} + ${cell(`(${n0} - ${k0})`, n0, `${n} + ${n0} - ${k} - ${k0}`)})`;
}

/**
 * How many times more a series of proportions scatters from chunk to chunk than independent draws would, as SQL: Pearson's
 * chi-squared over its degrees of freedom, at least 1. Requests come in bursts that are alike, and G counts each as news of
 * its own; divided by this it is a quasi-likelihood ratio. `squares` is the sum of k² / n over the chunks,
 * in whole thousandths: a sum of fractions would depend on the order in which they are added. All column names.
 */
export function overdispersion(
  write: DialectWriter,
  { k, n, squares, chunks }: Readonly<Record<'k' | 'n' | 'squares' | 'chunks', string>>,
): string {
  const pearson = write.ratio(
    `(${write.ratio(squares, '1000')} - ${write.ratio(`${k} * ${k}`, n)}) * ${n} * ${n}`,
    `${k} * (${n} - ${k}) * (${chunks} - 1)`,
  );
  // What always or never came does not scatter.
  return `CASE WHEN ${k} > 0 AND ${k} < ${n} AND ${chunks} >= ${thresholds.fewestChunks} AND ${pearson} > 1 THEN ${pearson} ELSE 1 END`;
}

export interface Proportion {
  readonly hits: number;
  readonly total: number;
}

/** Two-proportion z of `now` over `before`, pooled, with half a hit added to each so that zeros do not blow it up. */
export function twoProportionZ(now: Proportion, before: Proportion): number {
  if (now.total === 0 || before.total === 0) return 0;
  const nowTotal = now.total + 1;
  const beforeTotal = before.total + 1;
  const nowHits = now.hits + 0.5;
  const beforeHits = before.hits + 0.5;
  const pooled = (nowHits + beforeHits) / (nowTotal + beforeTotal);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / nowTotal + 1 / beforeTotal));
  return error === 0 ? 0 : (nowHits / nowTotal - beforeHits / beforeTotal) / error;
}

/**
 * Fisher's exact test: how likely it is that so many of all hits, or more, fall into `now` by chance. For small numbers, where a
 * normal distribution is no approximation; takes as many steps as there are hits.
 */
export function fisherTail(now: Proportion, before: Proportion): number {
  const hits = now.hits + before.hits;
  const total = now.total + before.total;
  let likelihood = Math.exp(
    logChoices(now.total, now.hits) + logChoices(before.total, before.hits) - logChoices(total, hits),
  );
  let sum = 0;
  for (let k = now.hits; k <= Math.min(hits, now.total) && likelihood > 0; k += 1) {
    sum += likelihood;
    likelihood *= ((now.total - k) * (hits - k)) / ((k + 1) * (before.total - hits + k + 1));
  }
  return Math.min(1, sum);
}

/** Logarithm of the number of ways to choose `k` of `n`. */
function logChoices(n: number, k: number): number {
  let sum = 0;
  for (let index = 1; index <= k; index += 1) sum += Math.log((n - k + index) / index);
  return sum;
}

/** How likely so many hits or more are, of `total` that each hit with probability `p`. */
export function binomialTail(hits: number, total: number, p: number): number {
  let term = (1 - p) ** total;
  let below = 0;
  for (let k = 0; k < hits; k += 1) {
    below += term;
    term *= ((total - k) / (k + 1)) * (p / (1 - p));
  }
  return Math.max(0, 1 - below);
}

/** How many robust standard deviations above the median of `others` a value lies; they scatter by a tenth at the least. */
export function robustZ(value: number, others: readonly number[]): number {
  const middle = medianOf(others);
  const deviation = 1.4826 * medianOf(others.map((other) => Math.abs(other - middle)));
  return (value - middle) / Math.max(0.1, deviation);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return (low + high) / 2;
}

export function rate({ hits, total }: Proportion): number {
  return total === 0 ? 0 : hits / total;
}

/**
 * Where a series of proportions changes most: the index at which the later part begins, and the z of later over earlier.
 * The later part is at most `span` long, for what may be over again before the series is. Undefined when no split stands
 * out (z below `least`) or a part would have no data.
 */
export function changePoint(
  series: readonly Proportion[],
  { least = 4, span = series.length }: { readonly least?: number; readonly span?: number } = {},
): { readonly index: number; readonly z: number } | undefined {
  let best: { index: number; z: number } | undefined;
  for (let index = 1; index < series.length; index += 1) {
    const z = twoProportionZ(sum(series.slice(index, index + span)), sum(series.slice(0, index)));
    if (z >= least && z > (best?.z ?? 0)) best = { index, z };
  }
  return best;
}

function sum(parts: readonly Proportion[]): Proportion {
  return {
    hits: parts.reduce((total, part) => total + part.hits, 0),
    total: parts.reduce((total, part) => total + part.total, 0),
  };
}
