import type { Dialect, DialectWriter } from '../../../contract/telemetry/index.ts';

/** A piece of a statement's text, as far as advice about it needs one. Nothing is admitted or refused by it: that is the parser's. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'backticked' | 'string' | 'number' | 'sign';
  /** A word in lower case, what stands inside quotes, or the sign. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** In both, what no statement has twice goes by without looking back. */
const standard =
  /--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^']|'')*')|("(?:[^"]|"")*")|(`[^`]*`)|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(<>|!=|<=|>=|==|~\*|!~\*?|->>?|::|\S)/giu;
const withBackslashes =
  /--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^'\\]|''|\\[\s\S])*')|("(?:[^"\\]|""|\\[\s\S])*")|(`[^`]*`)|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(<>|!=|<=|>=|==|~\*|!~\*?|->>?|::|\S)/giu;

const escaping: ReadonlySet<string> = new Set(['clickhouse', 'bigquery']);

export function tokensOf(sql: string, dialect: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const match of sql.matchAll(escaping.has(dialect) ? withBackslashes : standard)) {
    const [whole, string, quoted, backticked, number, word, sign] = match;
    const place = { start: match.index, end: match.index + whole.length };
    if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase(), ...place });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, ...place });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, ...place });
    else if (string !== undefined) tokens.push({ kind: 'string', text: inside(string, "'"), ...place });
    // In BigQuery double quotes hold a text.
    else if (quoted !== undefined)
      tokens.push({ kind: dialect === 'bigquery' ? 'string' : 'quoted', text: inside(quoted, '"'), ...place });
    else if (backticked !== undefined) tokens.push({ kind: 'backticked', text: backticked.slice(1, -1), ...place });
  }
  return tokens;
}

function inside(text: string, quote: string): string {
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

/** Names that a statement gives: what stands behind AS, a bracket, a literal or a table, in AS t(name), or in WITH. */
export function givenNames(tokens: readonly Token[]): ReadonlySet<string> {
  const gives = (before: Token | undefined) =>
    before !== undefined &&
    (before.kind === 'string' || before.kind === 'number' || /^(as|end|[)\]]|spans|logs|metrics)$/.test(before.text));
  const given = new Set(tokens.filter((_, at) => gives(tokens[at - 1])).map(({ text }) => text));
  const giveList = (open: number): void => {
    const close = closing(tokens, open);
    if (close < tokens.length) for (const { text } of tokens.slice(open + 1, close)) given.add(text);
  };
  tokens.forEach((token, at) => {
    const [before, next] = [tokens[at - 1], tokens[at + 1]];
    if (!isName(token) || before === undefined) return;
    const isListed = next?.text === '(' && token.text !== 'materialized';
    if (before.text === 'as' && isListed) giveList(at + 1);
    if (!/^(with|recursive|,)$/.test(before.text)) return;
    // `WITH name AS (`, and `name(column) AS (`.
    const as = isListed ? closing(tokens, at + 1) + 1 : at + 1;
    if (tokens[as]?.text !== 'as' || !/^(\(|not|materialized)$/.test(tokens[as + 1]?.text ?? '')) return;
    given.add(token.text);
    if (isListed) giveList(at + 1);
  });
  return given;
}

/** Whether a token may name a column: written bare, or quoted in one of the ways. */
export function isName({ kind }: Token): boolean {
  return kind === 'word' || kind === 'quoted' || kind === 'backticked';
}

/** What models write from other dialects, and what to write here. Asked of statements that failed. */
export type Habit = (tokens: readonly Token[], at: number, statement: Statement) => Cure | undefined;

export interface Cure {
  readonly advice: string;
  /** The statement with the part replaced, where that can be said. */
  readonly sql?: string;
}

export interface Source {
  readonly sql: string;
  readonly dialect: Dialect;
}

/** What in a statement yields nothing, or not what was meant, although it is valid. */
export interface Caution {
  readonly text: string;
  /** What would stand there instead, where that is known. */
  readonly edit?: Edit;
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One that failed. */
export interface Statement extends Source {
  /** Whether it failed for types or forms, and not for a name alone. */
  readonly misfits: boolean;
  /** Whether a function with other arguments may be why: a unit of time is then no column. */
  readonly mayMisuse: boolean;
  /** Names that it gives itself. */
  readonly given: ReadonlySet<string>;
  /** Of the tables it reads, in lower case. */
  readonly columns: ReadonlySet<string>;
}

/** Advice to write this in the place of these tokens. */
export function write(
  { sql }: Statement,
  first: Token | undefined,
  last: Token | undefined,
  text: string,
  why = '',
): Cure | undefined {
  if (first === undefined || last === undefined) return undefined;
  return { advice: `${why}Write ${text}.`, sql: sql.slice(0, first.start) + text + sql.slice(last.end) };
}

/** As the statement has it. */
export function textOf({ sql }: Statement, from: Token | undefined, to: Token | undefined): string {
  return from === undefined || to === undefined ? '' : sql.slice(from.start, to.end);
}

/** Tokens within a pair of brackets, and within a statement that is advised on: each costs a look at others. */
const mostInBrackets = 300;
export const mostTokens = 600;

/** Where the bracket closes that opens here. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < Math.min(tokens.length, open + mostInBrackets); at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    else if (tokens[at]?.text === ')' && (depth -= 1) === 0) return at;
  }
  return tokens.length;
}

/** Where the operand begins that ends here: a name, a call, brackets, or a key of a map. */
export function operandStart(tokens: readonly Token[], end: number): number | undefined {
  const last = tokens[end];
  if (last === undefined) return undefined;
  let start = end;
  if (last.kind === 'sign' && (last.text === ')' || last.text === ']')) {
    for (let depth = 0; ; start -= 1) {
      const token = tokens[start];
      if (token === undefined || end - start > mostInBrackets) return undefined;
      const { kind, text } = token;
      if (kind === 'sign' && /[)\]]/.test(text)) depth += 1;
      else if (kind === 'sign' && /[([]/.test(text) && (depth -= 1) === 0) break;
    }
    const [before, open] = [tokens[start - 1], tokens[start]];
    if (last.text === ']') return operandStart(tokens, start - 1);
    if (before === undefined || !isName(before) || before.end !== open?.start) return start;
    if (/^(where|and|or|not|on|when|then|else|having|select|by)$/.test(before.text)) return undefined;
    start -= 1;
  } else if (!isName(last)) return undefined;
  return tokens[start - 1]?.text === '.' ? operandStart(tokens, start - 2) : start;
}

export interface Argument {
  readonly text: string;
  readonly tokens: readonly Token[];
}

export interface Call {
  /** In lower case. */
  readonly name: string;
  readonly args: readonly Argument[];
  readonly first: Token;
  /** The closing bracket. */
  readonly last: Token;
}

/** The call that begins at this place. */
export function callAt(tokens: readonly Token[], at: number, sql: string): Call | undefined {
  const first = tokens[at];
  const brackets = first?.kind === 'word' ? bracketsAt(tokens, at + 1, sql) : undefined;
  return first && brackets && { ...brackets, name: first.text, first };
}

/** What stands in the brackets that open here, at their commas. */
export function bracketsAt(
  tokens: readonly Token[],
  open: number,
  sql: string,
): Pick<Call, 'args' | 'last'> | undefined {
  if (tokens[open]?.text !== '(') return undefined;
  const close = closing(tokens, open);
  const last = tokens[close];
  return last && { args: listed(tokens.slice(open + 1, close), sql), last };
}

/** Parts of a list, at the commas that are in no brackets, or at another word. */
export function listed(tokens: readonly Token[], sql: string, separator = ','): readonly Argument[] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'sign' && /[([{]/.test(token.text)) depth += 1;
    else if (token.kind === 'sign' && /[)\]}]/.test(token.text)) depth -= 1;
    const isSeparator = token.text === separator && (token.kind === 'sign' || token.kind === 'word');
    if (isSeparator && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts
    .filter((part) => part.length > 0)
    .map((part) => ({ tokens: part, text: sql.slice(part[0]?.start, part.at(-1)?.end) }));
}

/** What stands in quotes, BigQuery's `r'…'` too; undefined for anything else. */
export function literalOf(argument: Argument | undefined): string | undefined {
  const tokens = argument?.tokens ?? [];
  const [only, another] = tokens[0]?.text === 'r' && tokens.length === 2 ? tokens.slice(1) : tokens;
  return another === undefined && (only?.kind === 'string' || only?.kind === 'quoted') ? only.text : undefined;
}

/** What a call of another dialect is here; undefined where its arguments are not understood. */
export type Translation = (call: Call, writer: DialectWriter) => string | undefined;
