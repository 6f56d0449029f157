import { SightlineError } from '../../contract/core/index.ts';
import { sqlHelpers } from './helpers.ts';

/** Statements that the service answers itself, in the same way on every warehouse. */
export type ServiceCommand =
  | { readonly kind: 'tables'; readonly like?: string }
  /** `table` as it was written, without `otel.` and quotes. */
  | { readonly kind: 'columns'; readonly table: string; readonly like?: string }
  | { readonly kind: 'attributes'; readonly table: string; readonly like?: string };

const commands =
  "SHOW TABLES, DESCRIBE otel.spans, SHOW COLUMNS FROM otel.spans, SHOW ATTRIBUTES FROM otel.spans [LIKE 'http.%']";

/**
 * Reads a SHOW or DESCRIBE command; undefined for any other statement, which is the warehouse's to parse. Throws
 * sql_refused for a SHOW or DESCRIBE that is none of ours: what warehouses answer to those is not the organization's.
 */
export function parseServiceCommand(sql: string): ServiceCommand | undefined {
  if (!startsLikeCommand(sql)) return undefined;
  const words = tokenize(sql);
  const [first] = words;
  if (words.length === 0 || first === undefined) return undefined;
  const verb = keyword(first);
  if (verb !== 'SHOW' && verb !== 'DESCRIBE' && verb !== 'DESC') return undefined;
  while (words.at(-1)?.text === ';') words.pop();
  const command = verb === 'SHOW' ? parseShow(words) : parseDescribe(words);
  if (command === undefined) {
    throw new SightlineError('sql_refused', `This ${verb} statement is not answered.`, {
      hint: `Write one of: ${commands}.`,
    });
  }
  return command;
}

/** A pattern longer than any name there is: refused, so that what matching may cost is bounded. */
const longestLike = 256;

/** As `exactLikeMatcher`, but case is ignored. */
export function likeMatcher(pattern: string): (text: string) => boolean {
  const matches = exactLikeMatcher(pattern.toLowerCase());
  return (text) => matches(text.toLowerCase());
}

/**
 * Tells whether a text matches a SQL LIKE pattern: `%` any text, `_` one character, `\` takes the next literally. The pattern
 * is read once, since thousands of names may be asked. A regular expression made of it would take forever for a row of `%`.
 */
export function exactLikeMatcher(pattern: string): (text: string) => boolean {
  const parts = likeParts(pattern);
  return (text) => matches(Array.from(text), parts);
}

/** The pattern as a regular expression that all dialects read alike; case is ignored. */
export function likePattern(pattern: string): string {
  const parts = likeParts(pattern).map((part) =>
    part === 'any' ? '.*' : part === 'one' ? '.' : part.literal.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`),
  );
  return `(?is)^${parts.join('')}$`;
}

function matches(letters: readonly string[], parts: readonly LikePart[]): boolean {
  let letter = 0;
  let part = 0;
  // The last `%` seen and how far it has swallowed: going back only to it keeps this quadratic at worst.
  let anyPart = -1;
  let anyLetter = 0;
  while (letter < letters.length) {
    const wanted = parts[part];
    if (wanted === 'any') {
      anyPart = part;
      anyLetter = letter;
      part += 1;
    } else if (wanted !== undefined && (wanted === 'one' || wanted.literal === letters[letter])) {
      part += 1;
      letter += 1;
    } else if (anyPart >= 0) {
      anyLetter += 1;
      letter = anyLetter;
      part = anyPart + 1;
    } else {
      return false;
    }
  }
  return parts.slice(part).every((rest) => rest === 'any');
}

type LikePart = 'any' | 'one' | { readonly literal: string };

function likeParts(pattern: string): LikePart[] {
  const parts: LikePart[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === '\\') {
      escaped = true;
      continue;
    }
    if (escaped || (character !== '%' && character !== '_')) parts.push({ literal: character });
    else if (character === '_') parts.push('one');
    else if (parts.at(-1) !== 'any') parts.push('any');
    escaped = false;
  }
  if (escaped) parts.push({ literal: '\\' });
  return parts;
}

/** Without a look at the rest, so that an ordinary SELECT costs nothing here. */
function startsLikeCommand(sql: string): boolean {
  return /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:show|desc|describe)\b/i.test(sql);
}

interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'symbol';
  readonly text: string;
}

const token =
  /(?:\s+|--[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)|([\p{L}_][\p{L}\p{N}_$]*)|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|'((?:[^']|'')*)'|([^])/guy;

function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const [, word, double, back, single, symbol] of sql.matchAll(token)) {
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (double !== undefined) tokens.push({ kind: 'quoted', text: double.replaceAll('""', '"') });
    else if (back !== undefined) tokens.push({ kind: 'quoted', text: back.replaceAll('``', '`') });
    else if (single !== undefined) tokens.push({ kind: 'string', text: single.replaceAll("''", "'") });
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol });
    // Enough to see that it is too long for any command.
    if (tokens.length > 32) break;
  }
  return tokens;
}

function keyword(word: Token | undefined): string | undefined {
  return word?.kind === 'word' ? word.text.toUpperCase() : undefined;
}

function parseShow(words: readonly Token[]): ServiceCommand | undefined {
  let at = 1;
  const full = keyword(words[at]);
  if (full === 'FULL' || full === 'ALL') at += 1;
  const what = keyword(words[at]);
  at += 1;
  if (what === 'TABLES') {
    if (isFrom(words[at])) {
      if (identifier(words[at + 1])?.toLowerCase() !== 'otel') return undefined;
      at += 2;
    }
    const like = parseLike(words, at);
    return like === undefined ? undefined : { kind: 'tables', ...like };
  }
  if (what !== 'COLUMNS' && what !== 'FIELDS' && what !== 'ATTRIBUTES') return undefined;
  if (!isFrom(words[at])) return undefined;
  const table = parseTable(words, at + 1);
  const like = table === undefined ? undefined : parseLike(words, table.next);
  if (table === undefined || like === undefined) return undefined;
  return { kind: what === 'ATTRIBUTES' ? 'attributes' : 'columns', table: table.name, ...like };
}

function parseDescribe(words: readonly Token[]): ServiceCommand | undefined {
  const table = parseTable(words, keyword(words[1]) === 'TABLE' ? 2 : 1);
  return table?.next === words.length ? { kind: 'columns', table: table.name } : undefined;
}

function isFrom(word: Token | undefined): boolean {
  return keyword(word) === 'FROM' || keyword(word) === 'IN';
}

function identifier(word: Token | undefined): string | undefined {
  return word?.kind === 'word' || word?.kind === 'quoted' ? word.text : undefined;
}

/** `otel.spans`, `spans`, `"otel"."spans"`, and `` `otel.spans` `` as BigQuery has it. */
function parseTable(words: readonly Token[], at: number): { readonly name: string; readonly next: number } | undefined {
  const first = identifier(words[at]);
  if (first === undefined) return undefined;
  if (words[at + 1]?.text !== '.' || words[at + 1]?.kind !== 'symbol') {
    return { name: first.replace(/^otel\./i, ''), next: at + 1 };
  }
  const second = identifier(words[at + 2]);
  if (second === undefined) return undefined;
  if (first.toLowerCase() !== 'otel') {
    throw sqlHelpers.unknownTable(`${first}.${second}`);
  }
  return { name: second, next: at + 3 };
}

/** An optional `LIKE '…'` and then the end. */
function parseLike(words: readonly Token[], at: number): { readonly like?: string } | undefined {
  if (at === words.length) return {};
  const verb = keyword(words[at]);
  const pattern = words[at + 1];
  if ((verb !== 'LIKE' && verb !== 'ILIKE') || pattern?.kind !== 'string' || at + 2 !== words.length) return undefined;
  if (pattern.text.length > longestLike) {
    throw new SightlineError('sql_refused', `The LIKE pattern is longer than ${longestLike} characters.`, {
      hint: 'Shorten it; % stands for any text.',
    });
  }
  return { like: pattern.text };
}
