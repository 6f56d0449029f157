import type { Json, Node, ParsedStatement, TableName } from '../../../src/contract/telemetry/index.ts';
import type { Token } from './tokens.ts';

/** A place to replace in the canonical SQL; locations count its bytes. */
export interface Place {
  readonly table: TableName;
  readonly location: number;
  /** A table in FROM, or the qualifier of a column: `otel.spans.name`. */
  readonly kind: 'table' | 'qualifier';
  readonly aliased: boolean;
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
