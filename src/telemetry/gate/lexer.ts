import { shown, type Faults } from './fault.ts';
import type { Grammar } from './grammar.ts';
import { readQuoted } from './quoted.ts';

/** `end` closes every list of tokens. `value` is the content of a string or of a quoted name. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'operator' | 'end';
  /** Words in upper case, to compare with; operators as they are. */
  readonly text: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Longer statements answer no real question. */
const maxCharacters = 64 * 1024;
const maxTokens = 16_000;

const blank = /[ \t\r\n]+/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const number = /(?:0[xX][0-9A-Fa-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/y;
const digits = /\d+/y;

/**
 * The words of a statement. What an engine could read otherwise than we do (a character outside strings that no SQL needs,
 * an open quote, an escape that dialects disagree on) is refused, not guessed.
 */
export function tokenize(sql: string, grammar: Grammar, faults: Faults): readonly Token[] {
  if (sql.length > maxCharacters) {
    throw faults.refuse(
      'sql_too_large',
      'The statement is too long.',
      undefined,
      `Stay below ${maxCharacters} characters.`,
    );
  }
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0];
  };
  const push = (kind: Token['kind'], text: string, value: string, end: number): void => {
    if (tokens.length >= maxTokens) {
      throw faults.refuse(
        'sql_too_large',
        'The statement has too many words.',
        at,
        'Ask in several smaller statements.',
      );
    }
    tokens.push({ kind, text, value, start: at, end });
    at = end;
  };
  while (at < sql.length) {
    const space = take(blank);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const comment = commentEnd(sql, at, grammar);
    if (comment !== undefined) {
      if (comment < 0) throw faults.refuse('sql_syntax', 'A comment is not closed.', at, 'Close it with */.');
      at = comment;
      continue;
    }
    const character = sql.charAt(at);
    const previous = tokens.at(-1);
    const quoted = readQuoted(sql, at, grammar, faults);
    if (quoted !== undefined) {
      push(quoted.kind, '', quoted.value, quoted.end);
      continue;
    }
    // `tuple.1.2`: after a dot there are whole numbers only, and after a value a dot begins no number.
    const afterDot = previous?.text === '.' && previous.kind === 'operator';
    const isAccess = character === '.' && previous !== undefined && previous.end === at && endsValue(previous);
    const amount = isAccess ? undefined : take(afterDot ? digits : number);
    if (amount !== undefined) {
      if (/[A-Za-z0-9_]/.test(sql.charAt(at + amount.length))) {
        throw faults.refuse('sql_syntax', 'A number runs into a word.', at, 'Put a blank between them.');
      }
      push('number', amount, '', at + amount.length);
      continue;
    }
    const name = take(word);
    if (name !== undefined) {
      push('word', name.toUpperCase(), name, at + name.length);
      continue;
    }
    const operator = [3, 2, 1].map((length) => sql.slice(at, at + length)).find((text) => grammar.operators.has(text));
    if (operator !== undefined) {
      push('operator', operator, '', at + operator.length);
      continue;
    }
    if (character === ';') {
      if (rest(sql, at + 1, grammar)) break;
      throw faults.refuse('sql_multiple_statements', 'Only one statement can be sent.', at, 'Send each by itself.');
    }
    throw refusedCharacter(sql, at, faults);
  }
  push('end', '', '', at);
  return tokens;
}

function endsValue({ kind, text }: Token): boolean {
  return kind === 'word' || kind === 'quoted' || kind === 'number' || kind === 'string' || text === ')' || text === ']';
}

/** Where the comment that begins here ends; -1 if it does not, undefined if there is none. */
function commentEnd(sql: string, at: number, grammar: Grammar): number | undefined {
  if (sql.startsWith('/*', at)) {
    const end = sql.indexOf('*/', at + 2);
    return end < 0 ? -1 : end + 2;
  }
  const isLine =
    sql.startsWith('--', at) || (sql.charAt(at) === '#' && (grammar.hashComments || sql.charAt(at + 1) === ' '));
  if (!isLine) return undefined;
  const end = sql.indexOf('\n', at);
  return end < 0 ? sql.length : end + 1;
}

/** Only blanks, comments and semicolons follow. */
function rest(sql: string, from: number, grammar: Grammar): boolean {
  let at = from;
  while (at < sql.length) {
    const comment = commentEnd(sql, at, grammar);
    if (comment !== undefined && comment >= 0) at = comment;
    else if (/[ \t\r\n;]/.test(sql.charAt(at))) at += 1;
    else return false;
  }
  return true;
}

function refusedCharacter(sql: string, at: number, faults: Faults): Error {
  const character = String.fromCodePoint(sql.codePointAt(at) ?? 0);
  if (character === '@' || character === '?' || character === '$' || character === '{') {
    return faults.refuse(
      'sql_refused',
      'Parameters and variables are not available.',
      at,
      'Write the value into the SQL.',
    );
  }
  return faults.refuse(
    'sql_syntax',
    `The character ${shown(character)} has no place here.`,
    at,
    'Write text in single quotes.',
  );
}
