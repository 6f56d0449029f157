import {
  isNode,
  type Json,
  list,
  type Node,
  type ParsedStatement,
  type TableName,
  text,
} from '../../../src/contract/telemetry/index.ts';
import type { Token } from './tokens.ts';

// The tree as PostgreSQL's own parser writes it: `{ NodeType: { field: … } }`, fields of no value left out.

/** The node of that type, without its wrapper. */
export function only(type: string, value: Json | undefined): Node | undefined {
  if (!isNode(value)) return undefined;
  const inner = value[type];
  return isNode(inner) ? inner : undefined;
}

/** `{ String: { sval } }`, as names are written; undefined for `*` and subscripts. */
export function nameOf(value: Json | undefined): string | undefined {
  const string = only('String', value);
  return string === undefined ? undefined : text(string['sval']);
}

export function namesOf(value: Json | undefined): readonly (string | undefined)[] {
  return list(value).map(nameOf);
}

/** By what the columns of a FROM item are qualified. */
export function aliasOf(from: Json | undefined): string | undefined {
  const item = only('RangeVar', from) ?? only('RangeSubselect', from);
  const alias = item?.['alias'];
  return isNode(alias) ? text(alias['aliasname']) : item && text(item['relname']);
}

/** Whether its columns are given other names. */
export function isRenamed(item: Node): boolean {
  return isNode(item['alias']) && item['alias']['colnames'] !== undefined;
}

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
