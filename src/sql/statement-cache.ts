import type { CheckedStatement, OrganizationId } from '../contract/index.ts';

/** A statement that was parsed and checked, and how it was last rendered. */
export interface CachedStatement {
  readonly checked: CheckedStatement;
  /** What it was rendered under: minute, window and rules. */
  readonly binding: string;
  readonly rendered: string;
}

/** Larger ones are parsed each time: few are asked twice. */
const longestCached = 16_384;
/** What a parsed tree weighs in memory for each character of its statement, roughly and rather too much. */
const treeWeight = 100;

/**
 * Least recently used statements, bounded by number and by weight in bytes. The organization is part of the key although
 * nothing of it should be in a statement's text: a plugin that writes it there must not hand it to another organization.
 */
export class StatementCache {
  readonly #entries = new Map<string, { readonly statement: CachedStatement; readonly weight: number }>();
  readonly #maxEntries: number;
  readonly #maxWeight: number;
  #weight = 0;

  constructor({ maxEntries = 1000, maxWeight = 32_000_000 }: { maxEntries?: number; maxWeight?: number } = {}) {
    this.#maxEntries = maxEntries;
    this.#maxWeight = maxWeight;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(organizationId: OrganizationId, sql: string): CachedStatement | undefined {
    const key = `${organizationId}\n${sql}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.statement;
  }

  set(organizationId: OrganizationId, sql: string, statement: CachedStatement): void {
    if (sql.length > longestCached) return;
    const key = `${organizationId}\n${sql}`;
    this.#drop(key);
    const weight = 2 * (key.length + statement.rendered.length) + treeWeight * sql.length;
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { statement, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#weight <= this.#maxWeight) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
