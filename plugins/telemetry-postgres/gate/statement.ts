import type { ParsedStatement } from '../../../src/contract/telemetry/index.ts';
import type { Token } from './tokens.ts';
import type { Json, Node } from './tree.ts';

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
