import type { Principal } from '../contract/issuer/index.ts';

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
    if (count < 0) throw new Error(`'${name}' was left, and nobody entered`);
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

export interface CallLimits {
  /** Of one principal. */
  readonly each: number;
  /** Of a tool, by all of an organization; without an entry there is no limit. */
  readonly tools: Readonly<Record<string, number>>;
}

export type Caller = Pick<Principal, 'organizationId' | 'subject'>;

/** Tool calls in progress. Each admitted call leaves once, with the same arguments. */
export interface CallsAtOnce {
  /** False where as many are under way as may be. */
  enter(caller: Caller, tool: string): boolean;
  leave(caller: Caller, tool: string): void;
}

/**
 * Calls at once by principal, and by organization and tool: what a rate a minute does not bound is how many slow calls stand
 * beside each other.
 */
export function limitCallsAtOnce({ each, tools: most }: CallLimits): CallsAtOnce {
  const calls = new Counts();
  return {
    enter({ organizationId, subject }, tool) {
      const ofTool = Object.hasOwn(most, tool) ? (most[tool] ?? Infinity) : Infinity;
      const [own, all] = [`${organizationId} ${subject}`, `${organizationId} tool:${tool}`];
      if (calls.of(own) >= each || calls.of(all) >= ofTool) return false;
      calls.add(own, 1);
      calls.add(all, 1);
      return true;
    },
    leave({ organizationId, subject }, tool) {
      calls.add(`${organizationId} ${subject}`, -1);
      calls.add(`${organizationId} tool:${tool}`, -1);
    },
  };
}
