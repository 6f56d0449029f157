import type { EvalResult } from './data-set.ts';

export interface Score {
  readonly cases: number;
  /** Share of cases whose service is among the first one, three, five named; null without such cases. */
  readonly ac1: number | null;
  readonly ac3: number | null;
  readonly ac5: number | null;
  /** The same of what the answer shows: blames, or says to look at. */
  readonly visible_ac1: number | null;
  readonly visible_ac3: number | null;
}

/** Cases in which nothing is wrong, and the share of them in which no service is blamed. */
export interface Quiet {
  readonly cases: number;
  readonly nothing_wrong: number | null;
}

export interface Report extends Score {
  readonly by_type: Readonly<Record<string, Score>>;
  readonly quiet: Quiet & { readonly by_type: Readonly<Record<string, Quiet>> };
  readonly median_seconds: number | null;
  readonly median_queries: number | null;
  readonly median_onset_error_seconds: number | null;
  readonly failed: number;
  /** Faults of which the answer says that nothing is wrong. */
  readonly nothing_wrong_of_faults: number;
  /** Claims against their own evidence, over all cases. */
  readonly contradictions: number;
  readonly results: readonly EvalResult[];
}

/** Only cases in which something is wrong count for AC@k; the quiet ones are counted apart. */
export function score(results: readonly EvalResult[]): Report {
  const faults = results.filter(({ service }) => service !== undefined);
  const quiet = results.filter(({ service }) => service === undefined);
  return {
    ...accuracy(faults),
    by_type: byType(faults, accuracy),
    quiet: { ...quietness(quiet), by_type: byType(quiet, quietness) },
    median_seconds: median(results.map(({ seconds }) => seconds)),
    median_queries: median(results.map(({ queries }) => queries)),
    median_onset_error_seconds: median(
      faults.map(({ onsetErrorSeconds }) => onsetErrorSeconds).filter((seconds) => seconds !== undefined),
    ),
    nothing_wrong_of_faults: faults.filter(({ saysNothingWrong }) => saysNothingWrong).length,
    contradictions: results.reduce((sum, { contradictions }) => sum + contradictions.length, 0),
    failed: results.filter(({ failure }) => failure !== undefined).length,
    results,
  };
}

function byType<Figures>(
  results: readonly EvalResult[],
  figures: (of: readonly EvalResult[]) => Figures,
): Readonly<Record<string, Figures>> {
  const types = [...new Set(results.map(({ type }) => type))].toSorted();
  return Object.fromEntries(types.map((type) => [type, figures(results.filter((result) => result.type === type))]));
}

function quietness(results: readonly EvalResult[]): Quiet {
  const isQuiet = ({ blames, failure }: EvalResult): boolean => !blames && failure === undefined;
  return { cases: results.length, nothing_wrong: share(results, isQuiet) };
}

function accuracy(results: readonly EvalResult[]): Score {
  const within = (k: number, of: 'named' | 'shown'): number | null =>
    share(results, ({ service, ...found }) => service !== undefined && found[of].slice(0, k).includes(service));
  return {
    cases: results.length,
    ac1: within(1, 'named'),
    ac3: within(3, 'named'),
    ac5: within(5, 'named'),
    visible_ac1: within(1, 'shown'),
    visible_ac3: within(3, 'shown'),
  };
}

function share(results: readonly EvalResult[], holds: (result: EvalResult) => boolean): number | null {
  return results.length === 0 ? null : rounded(results.filter(holds).length / results.length);
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : rounded((low + high) / 2);
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
