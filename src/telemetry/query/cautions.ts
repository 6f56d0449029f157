import { nearestName } from '../../contract/core/spelling.ts';
import { byNames, type Dialect, type LogicalColumn, type TableName } from '../../contract/telemetry/index.ts';
import { pathByDot, subscripted } from './habits/attributes.ts';
import { pathIntoAttributes } from './habits/functions.ts';
import { exactLikeMatcher } from './service-command.ts';
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

/** OTLP's numbers of the enums, which some models compare with. */
const numbered: Readonly<Record<string, readonly string[]>> = {
  status_code: ['UNSET', 'OK', 'ERROR'],
  kind: ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'],
  aggregation_temporality: ['', 'delta', 'cumulative'],
};

/** Other words for a value, in upper case and without the prefix of the enum. */
const synonyms = byNames([
  ['ERROR', 'FAILED FAILURE FAIL ERR'],
  ['OK', 'SUCCESS SUCCEEDED'],
  ['sum', 'COUNTER'],
  ['exponential_histogram', 'EXPONENTIALHISTOGRAM'],
]);

const comparisons: ReadonlySet<string> = new Set(['=', '==', '<>', '!=']);
const orderings: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);
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
    for (const literal of comparedWith(tokens, at)) {
      const caution = ofLiteral(column, literal) ?? ofId(column, literal);
      if (caution !== undefined) found.push(caution);
    }
    if (column.name === 'severity_number') found.push(...ofLevel(tokens, at));
    const more = [ofOrder, ofPattern, ofNumber, ...(mayBeNull ? [] : [ofNull])];
    found.push(...more.flatMap((look) => look(column, tokens, at) ?? []));
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

/** Literals that the column at this place is compared with, on either side. */
export function comparedWith(tokens: readonly Token[], at: number): readonly Token[] {
  const [before, next] = [tokens[at - 1], tokens[at + 1]];
  if (before !== undefined && comparisons.has(before.text)) return literals([tokens[at - 2]]);
  if (next === undefined) return [];
  if (comparisons.has(next.text)) return literals([tokens[at + 2]]);
  const list = next.text === 'not' ? at + 2 : at + 1;
  if (tokens[list]?.text !== 'in' || tokens[list + 1]?.text !== '(') return [];
  let end = list + 2;
  while (end < tokens.length && tokens[end]?.text !== ')') end += 1;
  return literals(tokens.slice(list + 2, end));
}

function literals(tokens: readonly (Token | undefined)[]): readonly Token[] {
  return tokens.filter(
    (token): token is Token => token !== undefined && (token.kind === 'string' || token.kind === 'number'),
  );
}

function ofLiteral({ name, values, type }: LogicalColumn, { kind, text, start, end }: Token): Caution | undefined {
  if (name === 'severity_text' && kind === 'string' && /[a-z]/.test(text)) {
    const level = levelNamed(text);
    if (level !== undefined && text.toUpperCase() !== level.name) {
      return {
        text: `severity_text is spelt as its sender spelt it, mostly ${level.name} for this. Write severity_number BETWEEN ${level.from} AND ${level.from + 3}.`,
      };
    }
    const upper = text.toUpperCase().slice(0, 40).replaceAll("'", "''");
    const said = `severity_text is spelt as its sender spelt it, mostly in upper case. Write upper(severity_text) for severity_text and '${upper}' for the value, or severity_number >= 17 for errors.`;
    return { text: said };
  }
  if (name === 'parent_span_id' && kind === 'string' && /^0+$/.test(text)) {
    return { text: `A root span has '' for ${name}. Write '' in its place.`, edit: { start, end, text: "''" } };
  }
  if (values === undefined || type !== 'string' || (kind === 'string' && values.includes(text))) return undefined;
  const meant = valueMeant(name, values, text, kind === 'number');
  const shown = kind === 'number' ? text : `'${text.slice(0, 60)}'`;
  const all = values.map((value) => `'${value}'`).join(', ');
  const advice = meant === undefined ? '' : ` Write '${meant}' in its place.`;
  const said = `${name} is never ${shown}: it is one of ${all}.${advice}`;
  return { text: said, ...(meant !== undefined && { edit: { start, end, text: `'${meant}'` } }) };
}

/** Ids are hex in lower case; elsewhere they are written in upper case, with dashes, or behind 0x. */
function ofId({ name }: LogicalColumn, { kind, text, start, end }: Token): Caution | undefined {
  if (kind !== 'string' || !/^(trace|span|parent_span)_id$/.test(name)) return undefined;
  const bare = text.toLowerCase().replace(/^0x/, '').replaceAll('-', '');
  if (bare === text || !/^[0-9a-f]+$/.test(bare) || bare.length !== (name === 'trace_id' ? 32 : 16)) return undefined;
  return { text: `${name} is hex in lower case. Write '${bare}'.`, edit: { start, end, text: `'${bare}'` } };
}

/** Names of severities, by the first of the four numbers that the log data model gives each. */
const levels: readonly { readonly name: string; readonly from: number; readonly others: string }[] = [
  { name: 'TRACE', from: 1, others: 'FINEST VERBOSE' },
  { name: 'DEBUG', from: 5, others: '' },
  { name: 'INFO', from: 9, others: 'INFORMATION INFORMATIONAL NOTICE' },
  { name: 'WARN', from: 13, others: 'WARNING' },
  { name: 'ERROR', from: 17, others: 'ERR SEVERE' },
  { name: 'FATAL', from: 21, others: 'CRITICAL CRIT ALERT EMERGENCY EMERG PANIC' },
];

export function levelNamed(text: string) {
  const wanted = text.toUpperCase();
  return levels.find(({ name, others }) => name === wanted || others.split(' ').some((other) => other === wanted));
}

/** `severity_number >= 'WARN'`, `severity_number IN ('ERROR', 'FATAL')`. */
function ofLevel(tokens: readonly Token[], at: number): readonly Caution[] {
  const sign = tokens[at + 1];
  const literal = tokens[at + 2];
  const named = (token: Token | undefined) => (token?.kind === 'string' ? levelNamed(token.text) : undefined);
  const level = named(literal);
  if (sign === undefined || literal === undefined || level === undefined) {
    return comparedWith(tokens, at).flatMap((token) => {
      const each = named(token);
      if (each === undefined || comparisons.has(tokens[at - 1]?.text ?? '')) return [];
      const numbers = [0, 1, 2, 3].map((more) => each.from + more).join(', ');
      const { start, end } = token;
      return {
        text: `severity_number is a number. Write ${numbers} for ${each.name}.`,
        edit: { start, end, text: numbers },
      };
    });
  }
  const to = level.from + 3;
  const between = `BETWEEN ${level.from} AND ${to}`;
  const others = new Map(
    Object.entries({
      '>=': `>= ${level.from}`,
      '>': `> ${to}`,
      '<': `< ${level.from}`,
      '<=': `<= ${to}`,
      '<>': `NOT ${between}`,
      '!=': `NOT ${between}`,
      '=': level.from < 17 ? between : `>= ${level.from}`,
    }),
  );
  const instead = others.get(sign.text === '==' ? '=' : sign.text);
  if (instead === undefined) return [];
  const byName = sign.text === '=' ? ` or severity_text = '${level.name}'` : '';
  const text = `severity_number is a number. Write severity_number ${instead}${byName}.`;
  return [{ text, edit: { start: sign.start, end: literal.end, text: instead } }];
}

/** `status_code >= 2`, by the numbers of OTLP. */
function ofOrder({ name, values }: LogicalColumn, tokens: readonly Token[], at: number): Caution | undefined {
  const [sign, number] = [tokens[at + 1], tokens[at + 2]];
  const byNumber = numbered[name];
  if (values === undefined || byNumber === undefined || number?.kind !== 'number' || !orderings.has(sign?.text ?? '')) {
    return undefined;
  }
  const limit = Number(number.text);
  const meets = (index: number) =>
    sign?.text === '>'
      ? index > limit
      : sign?.text === '>='
        ? index >= limit
        : sign?.text === '<'
          ? index < limit
          : index <= limit;
  const meant = byNumber.filter((_, index) => meets(index)).map((value) => `'${value}'`);
  if (sign === undefined || meant.length === 0) return undefined;
  const instead = meant.length === 1 ? `= ${meant.join()}` : `IN (${meant.join(', ')})`;
  const text = `${name} is a text, one of ${values.map((value) => `'${value}'`).join(', ')}. Write ${name} ${instead}.`;
  return { text, edit: { start: sign.start, end: number.end, text: instead } };
}

/** `status_code LIKE '%rror'`, where only another case matches. */
function ofPattern({ name, values }: LogicalColumn, tokens: readonly Token[], at: number): Caution | undefined {
  const like = tokens[at + 1]?.text === 'not' ? at + 2 : at + 1;
  const pattern = tokens[like + 1];
  if (values === undefined || tokens[like]?.text !== 'like' || pattern?.kind !== 'string') return undefined;
  const matchesAny = (text: string) => values.some(exactLikeMatcher(text));
  if (pattern.text.length > 40 || matchesAny(pattern.text)) return undefined;
  const all = values.map((value) => `'${value}'`).join(', ');
  const meant = [pattern.text.toUpperCase(), pattern.text.toLowerCase()].find(matchesAny);
  const said = `No ${name} is like '${pattern.text}': it is one of ${all}.`;
  if (meant === undefined) return { text: said };
  const { start, end } = pattern;
  return { text: `${said} Write '${meant}' in its place.`, edit: { start, end, text: `'${meant}'` } };
}

/** Of the log data model, severity numbers are 1 to 24; of a time, a number is none. */
function ofNumber({ name, type }: LogicalColumn, tokens: readonly Token[], at: number): Caution | undefined {
  const [sign, number] = [tokens[at + 1], tokens[at + 2]];
  if (number?.kind !== 'number' || (!comparisons.has(sign?.text ?? '') && !orderings.has(sign?.text ?? '')))
    return undefined;
  if (name === 'severity_number' && Number(number.text) > 24) {
    return { text: 'severity_number is at most 24. Write severity_number >= 17 for errors, 13 for warnings.' };
  }
  if (type !== 'timestamp' || number.text.length < 12) return undefined;
  return { text: `${name} is a timestamp and no number. Write now() and an interval, or a time in quotes.` };
}

function valueMeant(name: string, values: readonly string[], text: string, isNumber: boolean): string | undefined {
  if (isNumber || /^\d$/.test(text)) return numbered[name]?.[Number(text)];
  const bare = text
    .toUpperCase()
    .replace(/^(STATUS_CODE|SPAN_KIND|AGGREGATION_TEMPORALITY|METRIC_TYPE|STATUS|KIND)_/, '');
  const same = values.find((value) => value.toUpperCase() === bare);
  if (same !== undefined) return same;
  const synonym = synonyms[bare];
  return synonym !== undefined && values.includes(synonym) ? synonym : nearestName(bare, values);
}

function ofNull(
  { name, type, nullable, added }: LogicalColumn,
  tokens: readonly Token[],
  at: number,
): Caution | undefined {
  if (nullable === true || added === true || tokens[at + 1]?.text !== 'is') return undefined;
  const not = tokens[at + 2]?.text === 'not';
  const [is, last] = [tokens[at + 1], tokens[at + (not ? 3 : 2)]];
  if (is === undefined || last?.text !== 'null') return undefined;
  const absent = type === 'string' ? "''" : type === 'int64' || type === 'float64' ? '0' : undefined;
  if (absent === undefined) return undefined;
  const of = name === 'parent_span_id' ? 'a root span has' : 'absent is';
  const instead = `${not ? '<>' : '='} ${absent}`;
  const text = `${name} is never NULL: ${of} ${absent}. Write ${name} ${instead}.`;
  return { text, edit: { start: is.start, end: last.end, text: instead } };
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
