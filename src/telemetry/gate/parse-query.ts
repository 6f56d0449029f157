import { parseWindow } from './parse-call.ts';
import { parseAliased, Tokens, type Parser } from './tokens.ts';
import { parseFrom } from './parse-from.ts';
import { parseTail } from './parse-order.ts';
import type { Expression, Grouping, Query, Select, WithItem } from './tree.ts';
import { withColumnNames } from './column-names.ts';
import { stopWords, looks, writes } from './words.ts';
import type { GatePolicy } from '../../contract/telemetry/index.ts';
import { shown, type Faults } from './fault.ts';
import { grammars } from './grammar.ts';
import { tokenize } from './lexer.ts';
import { parseExpression } from './parse-expression.ts';

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

/** A SELECT, or several with UNION, EXCEPT or INTERSECT between them, with WITH before and ORDER BY after. */
export function parseQuery(parser: Parser): Query {
  const { tokens, grammar } = parser;
  return tokens.deeper(() => {
    const items = tokens.take('WITH') ? parseWith(parser) : [];
    const body = parseSets(parser, false);
    if (items.length === 0 && !grammar.orderOfWholeUnion) return body;
    if (!grammar.orderOfWholeUnion) return isBare(body) ? { ...body, with: items } : wrap(parser, items, body);
    const tail = parseTail(parser);
    const hasTail = tail.order.length > 0 || tail.limit !== undefined;
    if (!hasTail && items.length === 0) return body;
    if (isBare(body) && !(hasTail && (body.order.length > 0 || body.limit !== undefined))) {
      return { ...body, ...(hasTail ? tail : {}), with: items };
    }
    return { ...wrap(parser, items, body), ...(hasTail ? tail : {}) };
  });
}

/** One without WITH of its own. */
function isBare(query: Query): boolean {
  return query.with.length === 0 && query.body.kind === 'select';
}

/** `SELECT * FROM (…)`: names of a WITH are then seen by every branch of a union. */
function wrap(parser: Parser, items: readonly WithItem[], query: Query): Query {
  const isAlone = items.length === 0 && query.order.length === 0 && query.limit === undefined;
  if (parser.grammar.orderOfWholeUnion || isAlone) return { ...query, with: [...items, ...query.with] };
  const body: Select = {
    kind: 'select',
    distinct: false,
    distinctOn: [],
    asStruct: false,
    items: [{ kind: 'star', of: [], except: [], replace: [] }],
    from: [{ join: '', source: { kind: 'query', query }, using: [] }],
    windows: [],
  };
  return { with: items, body, order: [], interpolate: undefined };
}

/** INTERSECT binds tighter than UNION and EXCEPT; what is equal binds to the left. */
function parseSets(parser: Parser, isInner: boolean): Query {
  let left = isInner ? parseBranch(parser) : parseSets(parser, true);
  for (;;) {
    const operator = takeOperator(parser, isInner);
    if (operator === undefined) return left;
    const right = isInner ? parseBranch(parser) : parseSets(parser, true);
    left = { with: [], body: { kind: 'set', operator, left, right }, order: [], interpolate: undefined };
  }
}

function both(left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator: 'AND', left, right };
}

function takeOperator({ tokens }: Parser, isInner: boolean): string | undefined {
  const word = (isInner ? ['INTERSECT'] : ['UNION', 'EXCEPT']).find((candidate) => tokens.take(candidate));
  if (word === undefined) return undefined;
  if (tokens.take('ALL')) return `${word} ALL`;
  if (tokens.take('DISTINCT')) return `${word} DISTINCT`;
  // Standard SQL means DISTINCT by it; these engines take no UNION without either.
  if (word === 'UNION') return 'UNION DISTINCT';
  return word;
}

function parseBranch(parser: Parser): Query {
  const { tokens } = parser;
  if (tokens.take('(')) {
    const query = parser.query();
    tokens.expect(')');
    return query;
  }
  const body = parseSelect(parser);
  if (parser.grammar.orderOfWholeUnion) return { with: [], body, order: [], interpolate: undefined };
  return { with: [], body, ...parseTail(parser) };
}

function parseWith(parser: Parser): readonly WithItem[] {
  const { tokens, dialect } = parser;
  const recursive = tokens.take('RECURSIVE');
  return tokens.list((): WithItem => {
    if (isTable(tokens)) {
      const name = tokens.name();
      const columns = tokens.take('(') ? tokens.bracketed(() => tokens.name()) : [];
      tokens.expect('AS', '(');
      const query = parser.query();
      tokens.expect(')');
      const named = columns.length === 0 ? query : withColumnNames(query, columns, tokens.faults);
      return { kind: 'table', name, query: named, recursive };
    }
    if (dialect === 'bigquery') throw tokens.unexpected('name AS (SELECT …)');
    const value = parser.expression();
    tokens.expect('AS');
    return { kind: 'value', name: tokens.name(), value };
  });
}

/** `name AS (`, `name (a, b) AS (`. A function before AS is followed by a name. */
function isTable(tokens: Tokens): boolean {
  const isName = (at: number) => ['word', 'quoted'].includes(tokens.peek(at).kind);
  let at = 1;
  if (tokens.peek(at).text === '(') {
    do at += 2;
    while (isName(at - 1) && tokens.peek(at).text === ',');
    if (!isName(at - 1) || tokens.peek(at).text !== ')') return false;
    at += 1;
  }
  return isName(0) && tokens.peek(at).text === 'AS' && tokens.peek(at + 1).text === '(';
}

function parseSelect(parser: Parser): Select {
  const { tokens } = parser;
  tokens.expect('SELECT');
  const distinct = tokens.take('DISTINCT');
  if (!distinct) tokens.take('ALL');
  const distinctOn =
    distinct && parser.dialect === 'clickhouse' && tokens.take('ON', '(')
      ? tokens.bracketed(() => parser.expression())
      : [];
  const asStruct = parser.dialect === 'bigquery' && tokens.take('AS', 'STRUCT');
  const items = parseItems(parser);
  const from = tokens.take('FROM') ? parseFrom(parser) : [];
  // What stands for a telemetry table takes no PREWHERE; as WHERE it means the same.
  const prewhere = parser.dialect === 'clickhouse' && tokens.take('PREWHERE') ? parser.expression() : undefined;
  const rest = tokens.take('WHERE') ? parser.expression() : undefined;
  const where = prewhere && rest ? both(prewhere, rest) : (prewhere ?? rest);
  const group = tokens.take('GROUP', 'BY') ? parseGroup(parser) : undefined;
  const having = tokens.take('HAVING') ? parser.expression() : undefined;
  // The dialects disagree on which comes first.
  const early = tokens.take('QUALIFY') ? parser.expression() : undefined;
  const windows = tokens.take('WINDOW') ? tokens.list(() => parseNamedWindow(parser)) : [];
  const qualify = early ?? (tokens.take('QUALIFY') ? parser.expression() : undefined);
  return {
    kind: 'select',
    distinct,
    distinctOn,
    asStruct,
    items,
    from,
    ...(where && { where }),
    ...(group && { group }),
    ...(having && { having }),
    ...(qualify && { qualify }),
    windows,
  };
}

function parseItems(parser: Parser): readonly Expression[] {
  const { tokens } = parser;
  const items: Expression[] = [];
  do {
    // A comma after the last column.
    if (items.length > 0 && tokens.is('FROM')) break;
    const value = parseAliased(parser);
    const { kind, text } = tokens.peek();
    const isAlias = value.kind !== 'alias' && (kind === 'quoted' || (kind === 'word' && !stopWords.has(text)));
    items.push(isAlias ? { kind: 'alias', operand: value, name: tokens.name() } : value);
  } while (tokens.take(','));
  return items;
}

function parseNamedWindow(parser: Parser): Select['windows'][number] {
  const name = parser.tokens.name();
  parser.tokens.expect('AS', '(');
  return { name, specification: parseWindow(parser) };
}

function parseGroup(parser: Parser): Grouping {
  const { tokens } = parser;
  if (tokens.take('ALL')) return { all: true, items: [], totals: tokens.take('WITH', 'TOTALS') };
  const sets = tokens.take('GROUPING', 'SETS', '(');
  const form = sets ? ('GROUPING SETS' as const) : (['ROLLUP', 'CUBE'] as const).find((word) => tokens.take(word, '('));
  const items =
    form === undefined ? tokens.list(() => parser.expression()) : tokens.bracketed(() => parser.expression());
  const later = form ?? (['ROLLUP', 'CUBE'] as const).find((word) => tokens.take('WITH', word));
  return { all: false, items, ...(later && { form: later }), totals: tokens.take('WITH', 'TOTALS') };
}
