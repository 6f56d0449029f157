/** Numbers by name, and their sum. A name whose number is 0 again is forgotten. */
export class Counts {
  readonly #of = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(name: string): number {
    return this.#of.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    this.#total += by;
    const count = this.of(name) + by;
    if (count === 0) this.#of.delete(name);
    else this.#of.set(name, count);
  }
}

export interface AtOnceLimits {
  /** Of one caller. */
  readonly caller: number;
  readonly organization: number;
  readonly total: number;
}

/**
 * Requests under way, of callers that are not authenticated yet. Bounded by caller, so that a stranger who sends slowly does
 * not keep out the sender, and by organization, so that one does not keep out the others.
 */
export class AtOnce {
  readonly #limits: AtOnceLimits;
  readonly #callers = new Counts();
  readonly #organizations = new Counts();

  constructor(limits: AtOnceLimits) {
    this.#limits = limits;
  }

  /** Gives what ends the stay; undefined where there is no room. */
  enter(organization: string, caller: string): (() => void) | undefined {
    const [callers, organizations] = [this.#callers, this.#organizations];
    const { caller: ofCaller, organization: ofOrganization, total } = this.#limits;
    if (callers.of(caller) >= ofCaller || organizations.of(organization) >= ofOrganization || callers.total >= total) {
      return undefined;
    }
    callers.add(caller, 1);
    organizations.add(organization, 1);
    return () => {
      callers.add(caller, -1);
      organizations.add(organization, -1);
    };
  }
}
