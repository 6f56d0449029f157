import type { GatePolicy } from '../../contract/telemetry/index.ts';

const maxNear = 40;

/** A policy's functions, found by the spelling of a caller and written in the policy's own. */
export class FunctionNames {
  readonly #exact: ReadonlySet<string>;
  readonly #folded: ReadonlyMap<string, string>;
  readonly #isCaseSensitive: boolean;

  constructor(functions: ReadonlySet<string>, isCaseSensitive: boolean) {
    this.#exact = functions;
    this.#folded = new Map([...functions].map((name) => [name.toLowerCase(), name]));
    this.#isCaseSensitive = isCaseSensitive;
  }

  static of(policy: GatePolicy): FunctionNames {
    return new FunctionNames(policy.functions, policy.functionNamesAreCaseSensitive);
  }

  find(name: string): string | undefined {
    if (this.#isCaseSensitive && this.#exact.has(name)) return name;
    return this.#folded.get(name.toLowerCase());
  }

  /** Names that begin like it and are about as long: comparing with all thousands would take half a second. */
  near(name: string): readonly string[] {
    const beginning = name.slice(0, 2).toLowerCase();
    const difference = (candidate: string): number => Math.abs(candidate.length - name.length);
    return [...this.#folded]
      .filter(([folded]) => folded.startsWith(beginning) && difference(folded) < 4)
      .map(([, candidate]) => candidate)
      .toSorted((a, b) => difference(a) - difference(b))
      .slice(0, maxNear);
  }
}
