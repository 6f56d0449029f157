import { parseCall } from './parse-call.ts';
import { type Parser, parseAliased } from './tokens.ts';
import type { Expression, FromItem, Name, Source } from './tree.ts';
import { stopWords } from './words.ts';

/** What stands after FROM, up to WHERE. */
export function parseFrom(parser: Parser): readonly FromItem[] {
  const { tokens } = parser;
  const items: FromItem[] = [{ join: '', source: parseSource(parser), using: [] }];
  for (;;) {
    if (tokens.take(',')) {
      items.push({ join: ',', source: parseSource(parser), using: [] });
      continue;
    }
    if (parser.dialect === 'clickhouse' && (tokens.is('ARRAY', 'JOIN') || tokens.is('LEFT', 'ARRAY', 'JOIN'))) {
      const join = tokens.take('LEFT') ? 'LEFT ARRAY JOIN' : 'ARRAY JOIN';
      tokens.expect('ARRAY', 'JOIN');
      items.push({ join, source: { kind: 'arrays', items: tokens.list(() => parseArray(parser)) }, using: [] });
      continue;
    }
    const join = parseJoin(parser);
    if (join === undefined) return items;
    const source = parseSource(parser);
    const on = tokens.take('ON') ? parser.expression() : undefined;
    items.push({ join, source, ...(on && { on }), using: on === undefined ? parseUsing(parser) : [] });
  }
}

function parseArray(parser: Parser): Expression {
  const value = parseAliased(parser);
  const name = value.kind === 'alias' ? undefined : parseAlias(parser);
  return name === undefined ? value : { kind: 'alias', operand: value, name };
}

const strictness = ['ANY', 'ALL', 'ASOF', 'SEMI', 'ANTI'] as const;

function parseJoin(parser: Parser): string | undefined {
  const { tokens } = parser;
  const words: string[] = [];
  const own = parser.dialect === 'clickhouse';
  if (own && tokens.take('GLOBAL')) words.push('GLOBAL');
  const before = own ? strictness.find((word) => tokens.take(word)) : undefined;
  const side = (['INNER', 'LEFT', 'RIGHT', 'FULL', 'CROSS'] as const).find((word) => tokens.take(word));
  tokens.take('OUTER');
  const after = own && before === undefined ? strictness.find((word) => tokens.take(word)) : undefined;
  const strict = before ?? after;
  if (!tokens.take('JOIN')) {
    if (words.length > 0 || strict !== undefined || side !== undefined) throw tokens.unexpected('JOIN');
    return undefined;
  }
  return [...words, ...(strict === undefined ? [] : [strict]), ...(side === undefined ? [] : [side]), 'JOIN'].join(' ');
}

function parseUsing({ tokens }: Parser): readonly Name[] {
  if (!tokens.take('USING')) return [];
  return tokens.take('(') ? tokens.bracketed(() => tokens.name()) : tokens.list(() => tokens.name());
}

function parseSource(parser: Parser): Source {
  const { tokens } = parser;
  if (tokens.take('(')) {
    const query = parser.query();
    tokens.expect(')');
    return withAlias({ kind: 'query', query }, parseAlias(parser));
  }
  const first = tokens.peek();
  const isCall = first.kind === 'word' && tokens.peek(1).text === '(' && tokens.peek(1).kind === 'operator';
  if (isCall && first.text === 'UNNEST' && parser.dialect === 'bigquery') return parseUnnest(parser);
  if (isCall) return withAlias({ kind: 'function', call: parseCall(parser) }, parseAlias(parser));
  if (first.kind === 'word' && stopWords.has(first.text)) throw tokens.unexpected('a table');
  const parts = [tokens.name()];
  while (tokens.take('.')) parts.push(tokens.name());
  return withAlias({ kind: 'table', parts }, parseAlias(parser));
}

function parseUnnest(parser: Parser): Source {
  const { tokens } = parser;
  tokens.expect('UNNEST', '(');
  const value = parser.expression();
  tokens.expect(')');
  const alias = parseAlias(parser);
  const hasOffset = tokens.take('WITH', 'OFFSET');
  const offset = hasOffset
    ? (parseAlias(parser) ?? { text: 'offset', quoted: false, start: tokens.peek(-1).start })
    : undefined;
  return { kind: 'unnest', value, ...(alias && { alias }), ...(offset && { offset }) };
}

function parseAlias({ tokens }: Parser): Name | undefined {
  if (tokens.take('AS')) return tokens.name();
  const { kind, text } = tokens.peek();
  return kind === 'quoted' || (kind === 'word' && !stopWords.has(text)) ? tokens.name() : undefined;
}

function withAlias(source: Exclude<Source, { readonly kind: 'arrays' }>, alias: Name | undefined): Source {
  return alias === undefined ? source : { ...source, alias };
}
