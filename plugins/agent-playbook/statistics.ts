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
