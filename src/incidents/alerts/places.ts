import { tooMany } from './answers.ts';
import { limits } from './limits.ts';

interface Caller {
  readonly organizationId: string;
  /** Of a source and a network address. */
  readonly subject: string;
}

/**
 * Requests that are under way, most of which nobody has proven to be a sender yet. Bounded by caller, so that a stranger who
 * sends slowly does not keep out the sender, and by organization, so that one does not keep out the others.
 */
export class Places {
  readonly #taken = new Map<string, number>();
  #total = 0;

  /** Gives what ends the stay. Throws 429 where there is no place. */
  enter({ organizationId, subject }: Caller): () => void {
    const { caller, organization, total } = limits.atOnce;
    const full = this.#of(subject) >= caller || this.#of(organizationId) >= organization || this.#total >= total;
    if (full) throw tooMany(1);
    this.#add(subject, organizationId, 1);
    return () => this.#add(subject, organizationId, -1);
  }

  #of(key: string): number {
    return this.#taken.get(key) ?? 0;
  }

  #add(subject: string, organizationId: string, count: 1 | -1): void {
    this.#total += count;
    for (const key of [subject, organizationId]) {
      const taken = this.#of(key) + count;
      if (taken === 0) this.#taken.delete(key);
      else this.#taken.set(key, taken);
    }
  }
}
