import { shown, type Faults } from './fault.ts';
import { tokenize, type Token } from './lexer.ts';
import type { Name, Expression, Query, Type, TypeArgument } from './tree.ts';
import { refusedClauses } from './words.ts';
import type { GatePolicy } from '../../contract/telemetry/index.ts';
import type { Grammar } from './grammar.ts';

/** Of brackets, subqueries, CASE and operators within each other: both our recursion and the engine's are bounded by it. */
const maxDepth = 100;

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

/** `Nullable(String)`, `DateTime64(3, 'UTC')`, `Tuple(a Int64)`, `ARRAY<STRUCT<a INT64>>`, `NUMERIC(10, 2)`. */
export function parseType(parser: Parser): Type {
  const { tokens } = parser;
  return tokens.deeper(() => {
    const { text: name, start } = tokens.name();
    if (parser.dialect === 'bigquery' && tokens.is('<')) {
      tokens.next();
      const inner = tokens.list(() => parseArgument(parser));
      // `>>` closes two.
      if (!tokens.closeAngle()) throw tokens.unexpected('>');
      return { name, start, arguments: inner };
    }
    return { name, start, arguments: tokens.take('(') ? tokens.bracketed(() => parseArgument(parser)) : [] };
  });
}

/** A type in a string: `CAST(x, 'Array(String)')`. */
export function parseTypeText(parser: Parser, text: string, start: number): Type {
  const { faults } = parser.tokens;
  const tokens = new Tokens(tokenize(text, parser.grammar, faults), faults);
  const type = parseType({ ...parser, tokens });
  if (tokens.peek().kind !== 'end')
    throw faults.refuse('sql_syntax', 'This names no type.', start, 'Write CAST(x AS String).');
  return { ...type, start };
}

function parseArgument(parser: Parser): TypeArgument {
  const { tokens } = parser;
  const token = tokens.peek();
  if (token.kind === 'number') return { kind: 'number', text: tokens.next().text };
  if (token.kind === 'string') return { kind: 'string', value: tokens.next().value };
  const after = tokens.peek(1).kind;
  if (after === 'word' || after === 'quoted') return { kind: 'type', name: tokens.name(), type: parseType(parser) };
  return { kind: 'type', type: parseType(parser) };
}

/** Reads tokens one after another. */
export class Tokens {
  readonly faults: Faults;
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #at = 0;
  #depth = 0;
  #halfClosed = false;

  constructor(tokens: readonly Token[], faults: Faults) {
    this.#tokens = tokens;
    this.#end = tokens.at(-1) ?? { kind: 'end', text: '', value: '', start: 0, end: 0 };
    this.faults = faults;
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? this.#end;
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /** Are the next tokens these words or operators? */
  is(...texts: readonly string[]): boolean {
    return texts.every((text, index) => {
      const token = this.peek(index);
      return token.text === text && (token.kind === 'word' || token.kind === 'operator');
    });
  }

  /** Steps over them if they are next. */
  take(...texts: readonly string[]): boolean {
    if (!this.is(...texts)) return false;
    this.#at += texts.length;
    return true;
  }

  expect(...texts: readonly string[]): void {
    if (!this.take(...texts)) throw this.unexpected(texts.join(' '));
  }

  /** `>`, or half of `>>`. */
  closeAngle(): boolean {
    if (this.take('>')) return true;
    if (!this.is('>>')) return false;
    if (this.#halfClosed) this.#at += 1;
    this.#halfClosed = !this.#halfClosed;
    return true;
  }

  name(): Name {
    const token = this.peek();
    if (token.kind !== 'word' && token.kind !== 'quoted') throw this.unexpected('a name');
    this.#at += 1;
    return { text: token.value, quoted: token.kind === 'quoted', start: token.start };
  }

  /** What `read` gives, one or more times with commas between. */
  list<T>(read: () => T): readonly T[] {
    const items = [read()];
    while (this.take(',')) items.push(read());
    return items;
  }

  /** The same in brackets, where it may be empty. */
  bracketed<T>(read: () => T, close = ')'): readonly T[] {
    if (this.take(close)) return [];
    const items = this.list(read);
    this.expect(close);
    return items;
  }

  /** Runs `read` one level deeper. */
  deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > maxDepth) {
      const hint = 'Ask in several smaller statements.';
      throw this.faults.refuse('sql_refused', 'The statement is nested too deeply.', this.peek().start, hint);
    }
    const result = read();
    this.#depth -= 1;
    return result;
  }

  unexpected(wanted?: string): Error {
    const token = this.peek();
    const clause = token.kind === 'word' ? refusedClauses[token.text] : undefined;
    if (clause !== undefined) {
      return this.faults.refuse('sql_refused', `${token.text} is not available.`, token.start, clause);
    }
    const found =
      token.kind === 'end' ? 'The statement ends too early' : `${shown(token.value || token.text)} is unexpected`;
    return this.faults.refuse(
      'sql_syntax',
      wanted === undefined ? `${found}.` : `${found}: ${wanted} should be here.`,
      token.start,
      'Write one SELECT over otel.spans, otel.metrics and otel.logs.',
    );
  }
}
