import type { Parser } from './tokens.ts';
import type { Expression, Fill, Limit, Ordering, Query } from './tree.ts';

/** `ORDER BY …`, from the word itself. */
export function parseOrder(parser: Parser): readonly Ordering[] {
  const { tokens } = parser;
  tokens.expect('ORDER', 'BY');
  return tokens.list(() => {
    const isAll = tokens.is('ALL') && !tokens.is('ALL', '(') && tokens.take('ALL');
    const value: Expression = isAll ? { kind: 'constant', text: 'ALL' } : parser.expression();
    const direction = tokens.take('DESC') || tokens.take('DESCENDING') ? 'DESC' : takeAscending(parser);
    const nulls = tokens.take('NULLS', 'FIRST') ? 'FIRST' : tokens.take('NULLS', 'LAST') ? 'LAST' : undefined;
    const fill = parser.dialect === 'clickhouse' && tokens.take('WITH', 'FILL') ? parseFill(parser) : undefined;
    return { value, ...(direction && { direction }), ...(nulls && { nulls }), ...(fill && { fill }) };
  });
}

function takeAscending({ tokens }: Parser): 'ASC' | undefined {
  return tokens.take('ASC') || tokens.take('ASCENDING') ? 'ASC' : undefined;
}

function parseFill(parser: Parser): Fill {
  const { tokens } = parser;
  const from = tokens.take('FROM') ? parser.expression() : undefined;
  const to = tokens.take('TO') ? parser.expression() : undefined;
  const step = tokens.take('STEP') ? parser.expression() : undefined;
  return { ...(from && { from }), ...(to && { to }), ...(step && { step }) };
}

type Tail = Pick<Query, 'order' | 'interpolate' | 'limitBy' | 'limit'>;

/** ORDER BY, LIMIT BY and LIMIT: what closes a query. */
export function parseTail(parser: Parser): Tail {
  const { tokens } = parser;
  const order = tokens.is('ORDER', 'BY') ? parseOrder(parser) : [];
  const interpolate = tokens.take('INTERPOLATE') ? parseInterpolate(parser) : undefined;
  let limit = parseLimit(parser);
  let limitBy: Tail['limitBy'];
  if (parser.dialect === 'clickhouse' && limit !== undefined && tokens.take('BY')) {
    limitBy = { ...limit, by: tokens.list(() => parser.expression()) };
    limit = parseLimit(parser);
  }
  return { order, interpolate, ...(limitBy && { limitBy }), ...(limit && { limit }) };
}

function parseInterpolate(parser: Parser): readonly Expression[] {
  const { tokens } = parser;
  if (!tokens.take('(')) return [];
  return tokens.bracketed(() => {
    const name = tokens.name();
    const column: Expression = { kind: 'name', parts: [name] };
    return tokens.take('AS') ? { kind: 'alias', operand: parser.expression(), name } : column;
  });
}

function parseLimit(parser: Parser): Limit | undefined {
  const { tokens } = parser;
  const isOffset = tokens.take('OFFSET');
  if (isOffset) {
    const offset = parser.expression();
    if (!tokens.take('ROWS')) tokens.take('ROW');
    return { offset, ties: false };
  }
  if (!tokens.take('LIMIT')) return undefined;
  const first = parser.expression();
  if (parser.dialect === 'clickhouse' && tokens.take(',')) {
    const count = parser.expression();
    return { count, offset: first, ties: tokens.take('WITH', 'TIES') };
  }
  const ties = tokens.take('WITH', 'TIES');
  const offset = tokens.take('OFFSET') ? parser.expression() : undefined;
  return { count: first, ...(offset && { offset }), ties: ties || tokens.take('WITH', 'TIES') };
}
