import type { Dialect, LogicalColumn, TableName } from '../../contract/telemetry/index.ts';
import { comparisons, ofColumn, orderings } from './column-cautions.ts';
import { pathByDot, subscripted } from './habits/attributes.ts';
import { pathIntoAttributes } from './habits/functions.ts';
import {
  closing,
  givenNames,
  isName,
  mostTokens,
  operandStart,
  tokensOf,
  type Caution,
  type Source,
  type Token,
} from './habits/tokens.ts';

export const most = 5;
/** Longer statements are not looked at: this is advice, and must cost little. */
export const longest = 16_384;

/** What makes NULL of a column that is never NULL itself. */
const nullMakers: ReadonlySet<string> = new Set(['left', 'right', 'full', 'outer', 'anti', 'rollup', 'cube', 'sets']);

/** The statement as the cautions say. */
export function heed(sql: string, cautions: readonly Caution[]): string {
  return cautions
    .flatMap(({ edit }) => edit ?? [])
    .toSorted((left, right) => right.start - left.start)
    .reduce((text, { start, end, text: other }) => text.slice(0, start) + other + text.slice(end), sql);
}

/**
 * What in a statement yields nothing although it is valid: a value that the column never has, or NULL where absent is ''. A
 * wrong answer without a word is worse than an error, so a result carries these as warnings, and a failure as its repair.
 */
export function cautionsOf(sql: string, tables: readonly TableName[], dialect: Dialect): readonly Caution[] {
  if (sql.length > longest) return [];
  const columns = columnsOf(tables, dialect);
  const tokens = tokensOf(sql, dialect.name);
  if (tokens.length > mostTokens) return [];
  const aliases = givenNames(tokens);
  const mayBeNull = tokens.some(({ kind, text }) => kind === 'word' && nullMakers.has(text));
  const readsAttributes = tokens.some(({ text }) => text.endsWith('attributes'));
  const found: Caution[] = [];
  tokens.forEach((token, at) => {
    if (found.length >= most) return;
    const source = { sql, dialect };
    const path = readsAttributes
      ? (pathIntoAttributes(tokens, at, source) ?? pathByDot(tokens, at, source) ?? subscripted(tokens, at, source))
      : undefined;
    const part =
      path ?? wholeDivision(tokens, at, source) ?? wholeMatch(tokens, at, source) ?? otherZone(tokens, at, source);
    if (part !== undefined) found.push(part);
    const column = isName(token) && !aliases.has(token.text) ? columns.get(token.text) : undefined;
    if (column === undefined) return;
    if (column.empty === true && !found.some(({ text }) => text.startsWith(`${column.name} `))) {
      found.push({ text: `${column.name} is empty in every row of this warehouse. Write the statement without it.` });
    }
    found.push(...ofColumn(column, tokens, at, mayBeNull));
  });
  return found;
}

/** By name; nullable where it is in one of the tables. */
function columnsOf(tables: readonly TableName[], dialect: Dialect): ReadonlyMap<string, LogicalColumn> {
  const columns = new Map<string, LogicalColumn>();
  for (const table of dialect.tables) {
    if (!tables.includes(table.name)) continue;
    for (const column of table.columns) {
      const known = columns.get(column.name);
      const nullable = known?.nullable ?? column.nullable;
      columns.set(column.name, { ...column, ...(nullable && { nullable }) });
    }
  }
  return columns;
}

const beforeTerm = /^(?:,|select|distinct|by|having|where|and|or|not|case|when|then|else)$/;

/** `count(*) / count(*)` and `sum(CASE … THEN 1 …) / count(*)` in PostgreSQL, which divides whole numbers to a whole number. */
function wholeDivision(tokens: readonly Token[], at: number, { sql, dialect }: Source): Caution | undefined {
  const next = tokens[at + 1];
  if (tokens[at]?.text !== '/' || dialect.name !== 'postgres') return undefined;
  // The term before, back to what it begins with.
  let from = at;
  for (let depth = 0; from > 0; from -= 1) {
    const { text } = tokens[from - 1] ?? { text: '' };
    if (text === ')') depth += 1;
    else if (text === '(' && (depth -= 1) < 0) break;
    else if (depth === 0 && (beforeTerm.test(text) || comparisons.has(text) || orderings.has(text))) break;
  }
  const first = tokens[from];
  const isNullif = next?.text === 'nullif' && tokens[at + 3]?.text === 'count';
  const last = tokens[closing(tokens, at + 2)];
  if (first === undefined || (next?.text !== 'count' && !isNullif) || last === undefined) return undefined;
  // `100 * count(*)` is as whole.
  const counted = first.kind === 'number' && tokens[from + 1]?.text === '*' ? from + 2 : from;
  if (tokens[counted]?.text !== 'count' && !isSumOfOnes(tokens, counted)) return undefined;
  const above = sql.slice(first.start, tokens[at - 1]?.end);
  // A cast of either side makes it a fraction.
  const isCast = /::\s*(?:float|double|numeric|decimal|real)|\bas\s+(?:float|double|numeric|decimal|real)|\d\.\d/i;
  if (isCast.test(above) || tokens[closing(tokens, at + 2) + 1]?.text === '::') return undefined;
  const text = `A whole number divided by a whole number is one: a share comes out as 0. Write (${above})::float8 before the /.`;
  return { text, edit: { start: first.start, end: first.start + above.length, text: `(${above})::float8` } };
}

/** `sum(CASE WHEN … THEN 1 ELSE 0 END)` and `sum((…)::int)`: of other columns a sum may be no whole number. */
function isSumOfOnes(tokens: readonly Token[], at: number): boolean {
  if (tokens[at]?.text !== 'sum' || tokens[at + 1]?.text !== '(') return false;
  const inside = tokens.slice(at + 2, closing(tokens, at + 1));
  const [sign, type] = inside.slice(-2).map(({ text }) => text);
  if (inside[0]?.text !== 'case') return sign === '::' && /^int(?:4|eger)?$/.test(type ?? '');
  return inside.every(({ text }, index) => {
    const [value, next] = [inside[index + 1], inside[index + 2]];
    if (text !== 'then' && text !== 'else') return true;
    return (value?.kind === 'number' || value?.text === 'null') && /^(when|else|end)$/.test(next?.text ?? '');
  });
}

/** `name ~ 'GET'` in DuckDB, where the pattern has to match the whole text. */
function wholeMatch(tokens: readonly Token[], at: number, { sql, dialect }: Source): Caution | undefined {
  const [operand, sign, pattern] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (dialect.name !== 'duckdb' || (sign?.text !== '~' && sign?.text !== '!~')) return undefined;
  if (operand === undefined || pattern?.kind !== 'string' || isWhole(pattern.text)) return undefined;
  const first = tokens[operandStart(tokens, at - 1) ?? -1];
  if (first === undefined) return undefined;
  const matches = dialect.write.matches(sql.slice(first.start, operand.end), pattern.text);
  const instead = sign.text === '~' ? matches : `NOT ${matches}`;
  const text = `${sign.text} has to match the whole text here. Write ${instead}.`;
  return { text, edit: { start: first.start, end: pattern.end, text: instead } };
}

/** Whether a pattern is written for a whole text. `^GET` alone is a beginning, as it is elsewhere. */
function isWhole(pattern: string): boolean {
  return /^\^.*\$$/s.test(pattern) || /^(?:\(\?\w+\))?\.\*|\.\*$/.test(pattern);
}

/** `time AT TIME ZONE 'Asia/Tokyo'` in DuckDB, where times have no zone: it is taken for a time of Tokyo, hours away. */
function otherZone(tokens: readonly Token[], at: number, { sql, dialect }: Source): Caution | undefined {
  const words = tokens.slice(at, at + 3).map(({ text }) => text);
  const [end, zone] = [tokens[at - 1], tokens[at + 3]];
  if (dialect.name !== 'duckdb' || words.join(' ') !== 'at time zone' || zone?.kind !== 'string') return undefined;
  const from = operandStart(tokens, at - 1);
  if (end === undefined || from === undefined || /^(?:etc\/)?(?:utc|gmt|z)$/i.test(zone.text)) return undefined;
  const operand = tokens.slice(from, at);
  // Of the table's own times alone it is known that they have none.
  const isOwn = operand.some(({ text }) => /^(?:(?:start|end|observed)_)?time$/.test(text));
  const hasZone = operand.some(({ text }) => /^(?:zone|now|current_timestamp|timestamptz|timezone)$/.test(text));
  const [first, sign] = [operand[0], tokens[at]];
  if (!isOwn || hasZone || first === undefined || sign === undefined) return undefined;
  const written = `${sql.slice(first.start, end.end)} AT TIME ZONE 'UTC' AT TIME ZONE ${dialect.write.literal(zone.text)}`;
  const text = `Times here are UTC and carry no zone, so this reads them as local times of that zone. Write ${written}; the result is local time, though it ends with Z.`;
  return { text, edit: { start: sign.start, end: sign.start, text: "AT TIME ZONE 'UTC' " } };
}
