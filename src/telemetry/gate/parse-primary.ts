import type { Token } from './lexer.ts';
import { parseCall } from './parse-call.ts';
import { parseAliased, parseType, parseTypeText, type Parser } from './tokens.ts';
import type { Expression, Name } from './tree.ts';
import { stopWords, timeUnits } from './words.ts';

/** `DATE '2026-01-02'` */
const typedLiterals = {
  clickhouse: ['DATE', 'TIMESTAMP'],
  bigquery: ['DATE', 'DATETIME', 'TIMESTAMP', 'TIME', 'NUMERIC', 'JSON'],
} as const satisfies Record<Parser['dialect'], readonly string[]>;

/** A primary expression, without operators or postfixes. */
export function parsePrimary(parser: Parser): Expression {
  const { tokens } = parser;
  const token = tokens.peek();
  switch (token.kind) {
    case 'number':
      return { kind: 'number', text: tokens.next().text };
    case 'string':
      return { kind: 'string', value: tokens.next().value };
    case 'operator':
      return parseBracket(parser);
    case 'quoted':
      return parseName(parser);
    case 'end':
      throw tokens.unexpected('an expression');
    case 'word':
      return parseWord(parser, token.text);
  }
}

function parseBracket(parser: Parser): Expression {
  const { tokens } = parser;
  if (tokens.take('*')) return parseStar(parser, []);
  if (tokens.take('[')) return { kind: 'array', items: tokens.bracketed(() => parser.expression(), ']') };
  if (!tokens.take('(')) throw tokens.unexpected('an expression');
  if (isQuery(parser)) return subquery(parser, '');
  const items = tokens.bracketed(() => parseAliased(parser));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'tuple', items };
}

function parseWord(parser: Parser, word: string): Expression {
  const { tokens, dialect } = parser;
  const isCall = tokens.peek(1).text === '(' && tokens.peek(1).kind === 'operator';
  const isBigQuery = dialect === 'bigquery';
  if (word === 'NULL' || word === 'TRUE' || word === 'FALSE') {
    tokens.next();
    return { kind: 'constant', text: word };
  }
  if (!isBigQuery && !isCall && /^(INF|NAN)$/.test(word) && tokens.peek().value === word.toLowerCase()) {
    tokens.next();
    return { kind: 'constant', text: word.toLowerCase() };
  }
  if (word === 'CASE') return parseCase(parser);
  if (word === 'INTERVAL' && !endsExpression(tokens.peek(1))) return parseInterval(parser);
  const typed = typedLiterals[dialect].find((type) => type === word);
  if (typed !== undefined && tokens.peek(1).kind === 'string') {
    tokens.next();
    return { kind: 'typed', type: typed, value: tokens.next().value };
  }
  if (isCall && (word === 'CAST' || word === 'SAFE_CAST' || word === 'TRY_CAST')) return parseCast(parser);
  if (isCall && word === 'EXTRACT') {
    const extract = parseExtract(parser);
    if (extract !== undefined) return extract;
  }
  if (isCall && (word === 'EXISTS' || (word === 'ARRAY' && isBigQuery))) {
    tokens.next();
    tokens.next();
    if (!isQuery(parser)) throw tokens.unexpected('SELECT');
    return subquery(parser, word);
  }
  if (isBigQuery && (word === 'ARRAY' || word === 'STRUCT')) {
    const constructed = parseConstructor(parser, word);
    if (constructed !== undefined) return constructed;
  }
  if (isCall) return parseCall(parser);
  if (stopWords.has(word)) throw tokens.unexpected('an expression');
  if (isBigQuery && /^CURRENT_(TIMESTAMP|DATE|DATETIME|TIME)$/.test(word)) {
    const { value: name, start } = tokens.next();
    return { kind: 'call', name, start, distinct: false, arguments: [], order: [] };
  }
  return parseName(parser);
}

/** `a`, `a.b.c`, `a.*`, `net.host(…)`. */
function parseName(parser: Parser): Expression {
  const { tokens } = parser;
  const parts: Name[] = [tokens.name()];
  while (tokens.is('.')) {
    const after = tokens.peek(1);
    if (after.text === '*' && after.kind === 'operator') {
      tokens.next();
      tokens.next();
      return parseStar(parser, parts);
    }
    if (after.kind !== 'word' && after.kind !== 'quoted') break;
    tokens.next();
    if (parser.dialect === 'bigquery' && tokens.is(after.text, '(')) return parseCall(parser, parts);
    parts.push(tokens.name());
  }
  return { kind: 'name', parts };
}

function parseStar(parser: Parser, of: readonly Name[]): Expression {
  const { tokens } = parser;
  let except: readonly Name[] = [];
  let replace: readonly { readonly value: Expression; readonly name: Name }[] = [];
  if (
    tokens.is('EXCEPT') &&
    !tokens.is('EXCEPT', 'SELECT') &&
    !tokens.is('EXCEPT', 'DISTINCT') &&
    !tokens.is('EXCEPT', 'ALL')
  ) {
    if (!tokens.is('EXCEPT', '(', 'SELECT')) {
      tokens.next();
      except = tokens.take('(') ? tokens.bracketed(() => tokens.name()) : [tokens.name()];
    }
  }
  if (tokens.take('REPLACE')) {
    tokens.expect('(');
    replace = tokens.bracketed(() => {
      const value = parser.expression();
      tokens.expect('AS');
      return { value, name: tokens.name() };
    });
  }
  return { kind: 'star', of, except, replace };
}

function parseCase(parser: Parser): Expression {
  const { tokens } = parser;
  tokens.expect('CASE');
  const operand = tokens.is('WHEN') ? undefined : parser.expression();
  const branches: { readonly when: Expression; readonly result: Expression }[] = [];
  while (tokens.take('WHEN')) {
    const when = parser.expression();
    tokens.expect('THEN');
    branches.push({ when, result: parser.expression() });
  }
  if (branches.length === 0) throw tokens.unexpected('WHEN');
  const otherwise = tokens.take('ELSE') ? parser.expression() : undefined;
  tokens.expect('END');
  return { kind: 'case', ...(operand && { operand }), branches, ...(otherwise && { otherwise }) };
}

/** Then the word before is a column of that name. */
function endsExpression({ kind, text }: Token): boolean {
  return kind === 'end' || (kind === 'operator' && !/^[-(+]$/.test(text)) || (kind === 'word' && stopWords.has(text));
}

function parseInterval(parser: Parser): Expression {
  const { tokens, grammar } = parser;
  tokens.expect('INTERVAL');
  const text = tokens.peek();
  // `INTERVAL '1 hour' - x`: the unit is in the text.
  if (parser.dialect === 'clickhouse' && text.kind === 'string' && /^\d+ [A-Za-z]/.test(text.value)) {
    return { kind: 'interval', amount: { kind: 'string', value: tokens.next().value } };
  }
  const amount = parser.expression(grammar.binary['+'] ?? 0);
  const unit = tokens.peek().text.replace(/S$/, '');
  if (timeUnits.has(unit)) {
    tokens.next();
    return { kind: 'interval', amount, unit };
  }
  throw tokens.unexpected('a unit of time');
}

function parseCast(parser: Parser): Expression {
  const { tokens } = parser;
  const { faults } = tokens;
  const { text: word, start } = tokens.next();
  const safe = word !== 'CAST';
  tokens.expect('(');
  const operand = parser.expression();
  if (tokens.take('AS')) {
    const type = parseType(parser);
    tokens.expect(')');
    return { kind: 'cast', safe, operator: false, operand, type };
  }
  const type = tokens.take(',') && tokens.peek().kind === 'string' ? tokens.next() : undefined;
  if (type === undefined) throw faults.refuse('sql_syntax', 'CAST needs a type.', start, `Write ${word}(x AS type).`);
  tokens.expect(')');
  return { kind: 'cast', safe, operator: false, operand, type: parseTypeText(parser, type.value, type.start) };
}

/** `EXTRACT(HOUR FROM x)`. Undefined for ClickHouse's function of a pattern. */
function parseExtract(parser: Parser): Expression | undefined {
  const { tokens } = parser;
  if (tokens.peek(2).kind !== 'word' || tokens.peek(3).text !== 'FROM') return undefined;
  tokens.next();
  tokens.next();
  const part = tokens.next().text;
  tokens.expect('FROM');
  const operand = parser.expression();
  const zone = tokens.take('AT', 'TIME', 'ZONE') ? parser.expression() : undefined;
  tokens.expect(')');
  return { kind: 'extract', part, operand, ...(zone && { zone }) };
}

/** `ARRAY<INT64>[1]`, `ARRAY[1]`, `STRUCT(1 AS a)`, `STRUCT<a INT64>(1)`. */
function parseConstructor(parser: Parser, word: string): Expression | undefined {
  const { tokens } = parser;
  const open = word === 'ARRAY' ? '[' : '(';
  const isTyped = tokens.is(word, '<');
  if (!isTyped && !tokens.is(word, open)) return undefined;
  const type = isTyped ? parseType(parser) : undefined;
  if (!isTyped) tokens.next();
  tokens.expect(open);
  const items = tokens.bracketed(() => parseAliased(parser), word === 'ARRAY' ? ']' : ')');
  return { kind: word === 'ARRAY' ? 'array' : 'struct', items, ...(type && { type }) };
}

function isQuery({ tokens }: Parser): boolean {
  return tokens.is('SELECT') || tokens.is('WITH');
}

function subquery(parser: Parser, form: '' | 'EXISTS' | 'ARRAY'): Expression {
  const query = parser.query();
  parser.tokens.expect(')');
  return { kind: 'subquery', form, query };
}
