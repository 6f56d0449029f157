import type { GatePolicy } from '../contract/index.ts';

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

  /** Names like it by their length, so that few are compared with it. */
  near(name: string): readonly string[] {
    return [...this.#exact].filter((candidate) => Math.abs(candidate.length - name.length) < 4);
  }
}
