import type { ParsedStatement } from '../../../src/contract/telemetry/index.ts';
import type { Token } from './tokens.ts';
import type { Json, Node } from './tree.ts';

interface Link {
  readonly name: string;
  readonly before: Link | undefined;
}

/** Names of the CTEs that an unqualified FROM item may mean at one place of the statement. */
export class Scope {
  readonly #last: Link | undefined;

  constructor(last?: Link) {
    this.#last = last;
  }

  has(name: string): boolean {
    for (let link = this.#last; link !== undefined; link = link.before) if (link.name === name) return true;
    return false;
  }

  with(name: string): Scope {
    return new Scope({ name, before: this.#last });
  }
}

/** A CTE may not be called so: lest a gap in the scoping rules opens a relation of the system. */
export function isSystemName(name: string): boolean {
  return /^(?:pg_|information_schema$|otel)/i.test(name);
}

/** What `parse` hands to the core and gets back. */
export class PostgresStatement implements ParsedStatement {
  readonly tokens: readonly Token[];
  /** The statement's own node, of the canonical SQL. */
  readonly tree: Node;

  constructor(tokens: readonly Token[], tree: Node) {
    this.tokens = tokens;
    this.tree = tree;
  }

  /** 1-based, in the caller's SQL, of a location of the tree. */
  position(location: Json | undefined): number | undefined {
    // A location of 0 is left out of the tree, and -1 stands for none.
    if (typeof location !== 'number' || location < 0) return undefined;
    const token = this.tokens.findLast((candidate) => candidate.location <= location);
    return token === undefined ? undefined : token.origin + 1;
  }
}
