import { nearestName } from '../../contract/core/spelling.ts';
import type { Dialect, LogicalColumn, TableName } from '../../contract/telemetry/index.ts';
import { isName, tokensOf, type Token } from './tokens.ts';

const most = 5;
/** Longer statements are not looked at: this is advice, and must cost little. */
const longest = 16_384;

/** OTLP's numbers of the enums, which some models compare with. */
const numbered: Readonly<Record<string, readonly string[]>> = {
  status_code: ['UNSET', 'OK', 'ERROR'],
  kind: ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'],
  aggregation_temporality: ['', 'delta', 'cumulative'],
};

/** Other words for a value, in upper case and without the prefix of the enum. */
const synonyms: Readonly<Record<string, string>> = {
  FAILED: 'ERROR',
  FAILURE: 'ERROR',
  FAIL: 'ERROR',
  ERR: 'ERROR',
  SUCCESS: 'OK',
  SUCCEEDED: 'OK',
  COUNTER: 'sum',
  EXPONENTIALHISTOGRAM: 'exponential_histogram',
};

const comparisons: ReadonlySet<string> = new Set(['=', '==', '<>', '!=']);
/** What makes NULL of a column that is never NULL itself. */
const nullMakers: ReadonlySet<string> = new Set(['left', 'right', 'full', 'outer', 'anti', 'rollup', 'cube', 'sets']);

export interface Caution {
  readonly text: string;
  /** What would stand there instead, where that is known. */
  readonly edit?: Edit;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

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
  const aliases = new Set(tokens.filter((_, at) => isAliased(tokens[at - 1])).map(({ text }) => text));
  const mayBeNull = tokens.some(({ kind, text }) => kind === 'word' && nullMakers.has(text));
  const found: Caution[] = [];
  tokens.forEach((token, at) => {
    const column = isName(token) && !aliases.has(token.text) ? columns.get(token.text) : undefined;
    if (column === undefined || found.length >= most) return;
    for (const literal of comparedWith(tokens, at)) {
      const caution = ofLiteral(column, literal);
      if (caution !== undefined) found.push(caution);
    }
    const caution = mayBeNull ? undefined : ofNull(column, tokens, at);
    if (caution !== undefined) found.push(caution);
  });
  return found;
}

/** Whether a name after this is another name for what stands before it: `… AS kind`, `attributes['kind'] kind`. */
function isAliased(before: Token | undefined): boolean {
  if (before === undefined) return false;
  const { kind, text } = before;
  return kind === 'string' || kind === 'number' || text === 'as' || text === ')' || text === ']';
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
function comparedWith(tokens: readonly Token[], at: number): readonly Token[] {
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
    const upper = text.toUpperCase().slice(0, 40).replaceAll("'", "''");
    const said = `severity_text is spelt as its sender spelt it, mostly in upper case. Write upper(severity_text) for severity_text and '${upper}' for the value, or severity_number >= 17 for errors.`;
    return { text: said };
  }
  if (values === undefined || type !== 'string' || (kind === 'string' && values.includes(text))) return undefined;
  const meant = valueMeant(name, values, text, kind === 'number');
  const shown = kind === 'number' ? text : `'${text.slice(0, 60)}'`;
  const all = values.map((value) => `'${value}'`).join(', ');
  const advice = meant === undefined ? '' : ` Write '${meant}' in its place.`;
  const said = `${name} is never ${shown}: it is one of ${all}.${advice}`;
  return { text: said, ...(meant !== undefined && { edit: { start, end, text: `'${meant}'` } }) };
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

function ofNull({ name, type, nullable }: LogicalColumn, tokens: readonly Token[], at: number): Caution | undefined {
  if (nullable === true || tokens[at + 1]?.text !== 'is') return undefined;
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
