import type { Dialect } from '../../contract/telemetry/index.ts';

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
  /--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^']|'')*')|("(?:[^"]|"")*")|(`[^`]*`)|(\d+(?:\.\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(<>|!=|<=|>=|==|~\*|!~\*?|->>?|::|\S)/gu;
const withBackslashes =
  /--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^'\\]|''|\\[\s\S])*')|("(?:[^"\\]|""|\\[\s\S])*")|(`[^`]*`)|(\d+(?:\.\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(<>|!=|<=|>=|==|~\*|!~\*?|->>?|::|\S)/gu;

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

export interface Statement {
  readonly sql: string;
  readonly dialect: Dialect;
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

/** Where the bracket closes that opens here. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    else if (tokens[at]?.text === ')' && (depth -= 1) === 0) return at;
  }
  return tokens.length;
}
