import { parseOrder } from './parse-order.ts';
import { parseAliased, type Parser } from './tokens.ts';
import type { Call, Expression, FrameBound, Name, WindowSpecification } from './tree.ts';

/** A function call with everything that may follow it. `path` is what stands before the last dot. */
export function parseCall(parser: Parser, path: readonly Name[] = []): Call {
  const { tokens } = parser;
  const last = tokens.name();
  const name = [...path, last].map(({ text }) => text).join('.');
  tokens.expect('(');
  let inner = parseArguments(parser);
  let parameters: readonly Expression[] | undefined;
  if (parser.dialect === 'clickhouse' && tokens.take('(')) {
    parameters = inner.arguments;
    inner = parseArguments(parser);
  }
  const filter = parseFilter(parser);
  const nulls = parseNulls(parser) ?? inner.nulls;
  return {
    kind: 'call',
    name,
    start: (path[0] ?? last).start,
    ...(parameters && { parameters }),
    ...inner,
    ...(filter && { filter }),
    ...(nulls && { nulls }),
    ...(tokens.take('OVER') && { over: tokens.take('(') ? parseWindow(parser) : tokens.name() }),
  };
}

type Arguments = Pick<Call, 'distinct' | 'arguments' | 'having' | 'order' | 'limit' | 'nulls'>;

function parseArguments(parser: Parser): Arguments {
  const { tokens } = parser;
  if (tokens.take(')')) return { distinct: false, arguments: [], order: [] };
  const distinct = tokens.take('DISTINCT');
  const list = tokens.list(() => parseAliased(parser));
  const nulls = parseNulls(parser);
  const having = parser.dialect === 'bigquery' ? parseHaving(parser) : undefined;
  const order = tokens.is('ORDER', 'BY') ? parseOrder(parser) : [];
  const limit = tokens.take('LIMIT') ? parser.expression() : undefined;
  tokens.expect(')');
  return {
    distinct,
    arguments: list,
    ...(having && { having }),
    order,
    ...(limit && { limit }),
    ...(nulls && { nulls }),
  };
}

function parseHaving(parser: Parser): Call['having'] {
  const { tokens } = parser;
  const side = (['MAX', 'MIN'] as const).find((word) => tokens.take('HAVING', word));
  return side && { side, value: parser.expression() };
}

function parseFilter(parser: Parser): Expression | undefined {
  const { tokens } = parser;
  if (!tokens.take('FILTER', '(', 'WHERE')) return undefined;
  const filter = parser.expression();
  tokens.expect(')');
  return filter;
}

function parseNulls({ tokens }: Parser): Call['nulls'] {
  if (tokens.take('IGNORE', 'NULLS')) return 'IGNORE';
  return tokens.take('RESPECT', 'NULLS') ? 'RESPECT' : undefined;
}

/** Inside the brackets of OVER or of a WINDOW clause; takes the closing one. */
export function parseWindow(parser: Parser): WindowSpecification {
  const { tokens } = parser;
  const { text, kind } = tokens.peek();
  const hasBase =
    kind === 'quoted' || (kind === 'word' && !['PARTITION', 'ORDER', 'ROWS', 'RANGE', 'GROUPS'].includes(text));
  const base = hasBase ? tokens.name() : undefined;
  const partition = tokens.take('PARTITION', 'BY') ? tokens.list(() => parser.expression()) : [];
  const order = tokens.is('ORDER', 'BY') ? parseOrder(parser) : [];
  const frame = parseFrame(parser);
  tokens.expect(')');
  return { ...(base && { base }), partition, order, ...(frame && { frame }) };
}

function parseFrame(parser: Parser): WindowSpecification['frame'] {
  const { tokens } = parser;
  const unit = (['ROWS', 'RANGE'] as const).find((word) => tokens.take(word));
  if (unit === undefined) return undefined;
  if (!tokens.take('BETWEEN')) return { unit, start: parseBound(parser) };
  const start = parseBound(parser);
  tokens.expect('AND');
  return { unit, start, end: parseBound(parser) };
}

function parseBound(parser: Parser): FrameBound {
  const { tokens } = parser;
  if (tokens.take('CURRENT', 'ROW')) return { side: 'CURRENT ROW' };
  const distance = tokens.take('UNBOUNDED') ? undefined : parser.expression(parser.grammar.between + 1);
  for (const side of ['PRECEDING', 'FOLLOWING'] as const) {
    if (tokens.take(side)) return { side, ...(distance && { distance }) };
  }
  throw tokens.unexpected('PRECEDING or FOLLOWING');
}
