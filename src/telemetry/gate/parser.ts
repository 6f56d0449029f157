import type { GatePolicy } from '../../contract/telemetry/index.ts';
import type { Grammar } from './grammar.ts';
import type { Tokens } from './tokens.ts';
import type { Expression, Query } from './tree.ts';

/** What reading one part of a statement needs of the others. */
export interface Parser {
  readonly tokens: Tokens;
  readonly grammar: Grammar;
  readonly dialect: GatePolicy['dialect'];
  readonly expression: (minimum?: number) => Expression;
  readonly query: () => Query;
}

/** In ClickHouse any part of an expression may be given a name. */
export function parseAliased(parser: Parser): Expression {
  const operand = parser.expression();
  return parser.tokens.take('AS') ? { kind: 'alias', operand, name: parser.tokens.name() } : operand;
}
