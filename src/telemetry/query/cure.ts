import type { Dialect } from '../../contract/telemetry/index.ts';
import type { Token } from './tokens.ts';

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
