import { LRUCache } from 'lru-cache';
import type { OrganizationId } from '../../contract/core/index.ts';
import type { CheckedStatement } from '../../contract/telemetry/index.ts';

/** A statement that was parsed and checked, and how it was last rendered. */
export interface CachedStatement {
  readonly checked: CheckedStatement;
  /** What it was rendered under. */
  readonly binding: Binding;
  readonly rendered: string;
}

/** All that a rendering depends on beside the statement. */
export interface Binding {
  /** A tenant that a plugin writes into the SQL is not remembered for longer. */
  readonly minute: number;
  /** Epoch milliseconds. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Of the rules. */
  readonly rules: string | undefined;
}

export function isSameBinding(one: Binding, other: Binding): boolean {
  return one.minute === other.minute && one.start === other.start && one.end === other.end && one.rules === other.rules;
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
  readonly #entries: LRUCache<string, CachedStatement>;

  constructor({ maxEntries = 1000, maxWeight = 32_000_000 }: { maxEntries?: number; maxWeight?: number } = {}) {
    this.#entries = new LRUCache({ max: maxEntries, maxSize: maxWeight });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(organizationId: OrganizationId, sql: string): CachedStatement | undefined {
    return this.#entries.get(keyOf(organizationId, sql));
  }

  set(organizationId: OrganizationId, sql: string, statement: CachedStatement): void {
    if (sql.length > longestCached) return;
    const key = keyOf(organizationId, sql);
    const size = 2 * (key.length + statement.rendered.length) + treeWeight * sql.length;
    this.#entries.set(key, statement, { size });
  }
}

function keyOf(organizationId: OrganizationId, sql: string): string {
  return `${organizationId}\n${sql}`;
}
