import type { GatePolicy } from '../../contract/telemetry/index.ts';
import { shown, type Faults } from './fault.ts';
import { grammars } from './grammar.ts';
import { tokenize } from './lexer.ts';
import { parseExpression } from './parse-expression.ts';
import type { Parser } from './parser.ts';
import { parseQuery } from './parse-query.ts';
import { Tokens } from './tokens.ts';
import type { Query } from './tree.ts';
import { looks, writes } from './words.ts';

/** One query and nothing else. Throws sql_syntax, sql_too_large, sql_multiple_statements, sql_not_read_only, sql_refused. */
export function parse(sql: string, dialect: GatePolicy['dialect'], faults: Faults): Query {
  const grammar = grammars[dialect];
  const tokens = new Tokens(tokenize(sql, grammar, faults), faults);
  const first = tokens.peek();
  if (first.kind === 'end') throw faults.refuse('sql_syntax', 'The statement is empty.', undefined, 'Send a SELECT.');
  if (first.kind === 'word' && writes.has(first.text)) {
    const message = `Only queries can be sent, not ${shown(first.text)}.`;
    throw faults.refuse('sql_not_read_only', message, first.start, 'Send a SELECT.');
  }
  const look = first.kind === 'word' && Object.hasOwn(looks, first.text) ? looks[first.text] : undefined;
  if (look !== undefined) throw faults.refuse('sql_refused', `${first.text} is not available here.`, first.start, look);
  const parser: Parser = {
    tokens,
    grammar,
    dialect,
    expression: (minimum = 0) => parseExpression(parser, minimum),
    query: () => parseQuery(parser),
  };
  const query = parser.query();
  if (tokens.peek().kind !== 'end') throw tokens.unexpected();
  return query;
}
