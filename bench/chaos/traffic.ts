import type { Outages } from './outages.ts';

export interface Attempt {
  readonly kind: string;
  /** Whom the front gave it to; undefined where it was lost before anybody said, or went to nobody. */
  readonly replica: number | undefined;
  /** Milliseconds of `performance.now()`. */
  readonly from: number;
  readonly to: number;
  /** Why it did not do what it was to do. */
  readonly failure?: string;
}

export interface Tally {
  readonly kind: string;
  readonly sent: number;
  readonly failed: number;
  /** Sent while nothing was out of order that could be to blame: none of these may fail. */
  readonly held: number;
  /** Those of them that failed. */
  readonly unexcused: readonly Attempt[];
}

/** Everything that was asked. */
export class Traffic {
  readonly #attempts: Attempt[] = [];

  note(attempt: Attempt): void {
    this.#attempts.push(attempt);
  }

  get sent(): number {
    return this.#attempts.length;
  }

  get failed(): readonly Attempt[] {
    return this.#attempts.filter(({ failure }) => failure !== undefined);
  }

  /** The longest that an answered request of these kinds took, of those under way in that time. In ms. */
  longest(kinds: ReadonlySet<string>, from: number, to: number): number {
    const took = this.#attempts
      .filter((each) => kinds.has(each.kind) && each.failure === undefined && each.from <= to && each.to >= from)
      .map((each) => each.to - each.from);
    return Math.max(0, ...took);
  }

  tallies(outages: Outages): readonly Tally[] {
    const kinds = Map.groupBy(this.#attempts, ({ kind }) => kind);
    return [...kinds]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([kind, attempts]) => {
        const held = attempts.filter(({ from, to, replica }) => outages.during(from, to, replica) === undefined);
        return {
          kind,
          sent: attempts.length,
          failed: attempts.filter(({ failure }) => failure !== undefined).length,
          held: held.length,
          unexcused: held.filter(({ failure }) => failure !== undefined),
        };
      });
  }
}
