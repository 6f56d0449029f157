/** What a verification finds: everything is counted, and the first are kept to be told. */
export interface Findings<Found> {
  readonly report: (problem: Found) => void;
  readonly kept: readonly Found[];
  readonly count: () => number;
}

/** @param most how many are kept. */
export function gatherFindings<Found>(most: number): Findings<Found> {
  const kept: Found[] = [];
  let count = 0;
  return {
    report(problem) {
      count += 1;
      if (kept.length < most) kept.push(problem);
    },
    kept,
    count: () => count,
  };
}
