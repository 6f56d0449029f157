import { parsePrimary } from './parse-primary.ts';
import type { Grammar } from './grammar.ts';
import type { Token } from './lexer.ts';
import { parseType, type Parser, type Tokens } from './tokens.ts';
import type { Expression, In } from './tree.ts';

/** Looser than every operator. */
const lambda = 1;
const conditional = 2;

/** An expression whose operators all bind at least as tightly as `minimum`. */
export function parseExpression(parser: Parser, minimum: number): Expression {
  return parser.tokens.deeper(() => {
    let left = parsePrefix(parser);
    for (;;) {
      const longer = parseInfix(parser, left, minimum);
      if (longer === undefined) return left;
      left = longer;
    }
  });
}

function parsePrefix(parser: Parser): Expression {
  const { tokens, grammar } = parser;
  if (tokens.take('NOT')) return { kind: 'unary', operator: 'NOT', operand: parser.expression(grammar.not) };
  const [sign, amount] = [tokens.peek(), tokens.peek(1)];
  // `-1::String` is a cast of -1, and `- 1::String` of 1.
  if (tokens.is('-') && amount.kind === 'number' && amount.start === sign.end && tokens.peek(2).text === '::') {
    skip(tokens, 2);
    return parsePostfix(parser, { kind: 'number', text: `-${amount.text}` });
  }
  // A plus is nothing to ClickHouse: to the right of IN `+name` would still be a table.
  if (tokens.take('+')) return parser.expression(grammar.sign);
  for (const operator of ['-', '~'] as const) {
    if (grammar.operators.has(operator) && tokens.take(operator)) {
      return { kind: 'unary', operator, operand: parser.expression(grammar.sign) };
    }
  }
  return parsePostfix(parser, parsePrimary(parser));
}

/** `a[1]`, `a.b`, `t.1`, `a::Type`: tighter than any operator. */
function parsePostfix(parser: Parser, first: Expression): Expression {
  const { tokens } = parser;
  let operand = first;
  for (;;) {
    if (tokens.take('[')) {
      const index = parser.expression();
      tokens.expect(']');
      operand = { kind: 'subscript', operand, index };
    } else if (tokens.is('.') && operand.kind !== 'star') {
      tokens.next();
      const token = tokens.peek();
      if (token.kind === 'number') tokens.next();
      operand = { kind: 'field', operand, name: token.kind === 'number' ? Number(token.text) : tokens.name() };
    } else if (tokens.take('::')) {
      operand = { kind: 'cast', safe: false, operator: true, operand, type: parseType(parser) };
    } else {
      return operand;
    }
  }
}

function parseInfix(parser: Parser, left: Expression, minimum: number): Expression | undefined {
  const { tokens, grammar } = parser;
  const { text, kind } = tokens.peek();
  if (kind !== 'word' && kind !== 'operator') return undefined;
  if (text === '->' && minimum <= lambda) return parseLambda(parser, left);
  if (text === '?' && minimum <= conditional) {
    tokens.next();
    const yes = parser.expression(conditional);
    tokens.expect(':');
    return { kind: 'conditional', condition: left, yes, no: parser.expression(conditional) };
  }
  const operator = text === '==' ? '=' : text === '<>' ? '!=' : text;
  const strength = grammar.binary[operator];
  if (strength !== undefined) {
    if (strength < minimum) return undefined;
    tokens.next();
    return { kind: 'binary', operator, left, right: parser.expression(strength + 1) };
  }
  return parsePredicate(parser, left, minimum);
}

function parsePredicate(parser: Parser, left: Expression, minimum: number): Expression | undefined {
  const { tokens, grammar } = parser;
  const not = tokens.is('NOT') ? 1 : 0;
  const word = tokens.peek(not).text;
  if (word === 'BETWEEN' && grammar.between >= minimum) {
    skip(tokens, not + 1);
    const low = parser.expression(grammar.between + 1);
    tokens.expect('AND');
    return { kind: 'between', not: not === 1, operand: left, low, high: parser.expression(grammar.between + 1) };
  }
  if (word === 'IS' && not === 0 && grammar.is >= minimum) return parseIs(parser, left);
  if (grammar.predicate < minimum) return undefined;
  if (word === 'LIKE' || word === 'ILIKE' || (word === 'REGEXP' && not === 0)) {
    if (word !== 'LIKE' && parser.dialect === 'bigquery') return undefined;
    skip(tokens, not + 1);
    const operator = not === 1 ? `NOT ${word}` : word;
    return { kind: 'binary', operator, left, right: parser.expression(grammar.predicate + 1) };
  }
  const global = tokens.is('GLOBAL');
  if (global && parser.dialect === 'clickhouse') {
    if (tokens.is('GLOBAL', 'IN')) return parseIn(parser, left, { not: false, global, words: 2 });
    if (tokens.is('GLOBAL', 'NOT', 'IN')) return parseIn(parser, left, { not: true, global, words: 3 });
    return undefined;
  }
  return word === 'IN' ? parseIn(parser, left, { not: not === 1, global: false, words: not + 1 }) : undefined;
}

function parseIs(parser: Parser, operand: Expression): Expression {
  const { tokens, grammar } = parser;
  tokens.expect('IS');
  const not = tokens.take('NOT');
  if (tokens.take('DISTINCT', 'FROM')) {
    const right = parser.expression(grammar.is + 1);
    return { kind: 'binary', operator: not ? 'IS NOT DISTINCT FROM' : 'IS DISTINCT FROM', left: operand, right };
  }
  for (const what of ['NULL', 'TRUE', 'FALSE'] as const)
    if (tokens.take(what)) return { kind: 'is', not, operand, what };
  throw tokens.unexpected('NULL, TRUE, FALSE or DISTINCT FROM');
}

function parseIn(
  parser: Parser,
  operand: Expression,
  { not, global, words }: { readonly not: boolean; readonly global: boolean; readonly words: number },
): In {
  const { tokens, grammar } = parser;
  skip(tokens, words);
  const among = ((): In['among'] => {
    if (parser.dialect === 'bigquery' && tokens.take('UNNEST', '(')) {
      const value = parser.expression();
      tokens.expect(')');
      return { kind: 'unnest', value };
    }
    if (!tokens.take('(')) return { kind: 'value', value: parser.expression(grammar.predicate + 1) };
    if (tokens.is('SELECT') || tokens.is('WITH') || tokens.is('(', 'SELECT')) {
      const query = parser.query();
      tokens.expect(')');
      return { kind: 'query', query };
    }
    return { kind: 'list', items: tokens.bracketed(() => parser.expression()) };
  })();
  // `x IN (…) + 1` would be `x IN ((…) + 1)`.
  if (among.kind !== 'value' && bindsTighter(tokens.peek(), grammar))
    throw tokens.unexpected('a comparison or a clause');
  return { kind: 'in', not, global, operand, start: tokens.peek(-1).start, among };
}

function bindsTighter({ kind, text }: Token, grammar: Grammar): boolean {
  if (kind !== 'operator' && kind !== 'word') return false;
  return /^(?:\[|\.|::)$/.test(text) || (grammar.binary[text] ?? 0) > grammar.predicate;
}

function parseLambda(parser: Parser, left: Expression): Expression {
  const { tokens } = parser;
  const parameters = left.kind === 'tuple' ? left.items : [left];
  const names = parameters.map((parameter) => {
    const name = parameter.kind === 'name' && parameter.parts.length === 1 ? parameter.parts[0] : undefined;
    if (name === undefined) throw tokens.unexpected('names before the arrow');
    return name;
  });
  tokens.expect('->');
  return { kind: 'lambda', parameters: names, body: parser.expression(lambda) };
}

function skip(tokens: Tokens, count: number): void {
  for (let step = 0; step < count; step += 1) tokens.next();
}
