import type { OrganizationId } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';

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

/** Counts of what is not under way are kept up to here: one that comes and goes with each call would cost more. */
const resting = 10_000;

/**
 * Calls at once by principal, and by organization and tool: what a rate a minute does not bound is how many slow calls stand
 * beside each other.
 */
export function limitCallsAtOnce({ each, tools: most }: CallLimits): CallsAtOnce {
  const principals = new Counts();
  const tools = new Counts();
  return {
    enter({ organizationId, subject }, tool) {
      const ofTool = Object.hasOwn(most, tool) ? (most[tool] ?? Infinity) : Infinity;
      if (principals.of(organizationId, subject) >= each || tools.of(organizationId, tool) >= ofTool) return false;
      principals.add(organizationId, subject, 1);
      tools.add(organizationId, tool, 1);
      return true;
    },
    leave({ organizationId, subject }, tool) {
      principals.add(organizationId, subject, -1);
      tools.add(organizationId, tool, -1);
    },
  };
}

class Counts {
  readonly #organizations = new Map<OrganizationId, Map<string, number>>();
  #size = 0;

  of(organizationId: OrganizationId, name: string): number {
    return this.#organizations.get(organizationId)?.get(name) ?? 0;
  }

  add(organizationId: OrganizationId, name: string, by: 1 | -1): void {
    let names = this.#organizations.get(organizationId);
    if (names === undefined) {
      names = new Map();
      this.#organizations.set(organizationId, names);
    }
    const before = names.get(name);
    if (before === undefined) this.#size += 1;
    const count = (before ?? 0) + by;
    if (count < 0) throw new Error('a call was left that nobody entered');
    names.set(name, count);
    if (count === 0 && this.#size > resting) this.#forget();
  }

  /** Those that nothing stands behind, all at once and seldom. */
  #forget(): void {
    for (const [organizationId, names] of this.#organizations) {
      for (const [name, count] of names) if (count === 0) names.delete(name);
      if (names.size === 0) this.#organizations.delete(organizationId);
    }
    this.#size = [...this.#organizations.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
