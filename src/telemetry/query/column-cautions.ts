import { nearestName } from '../../contract/core/spelling.ts';
import { byNames, type LogicalColumn } from '../../contract/telemetry/index.ts';
import type { Caution, Token } from './habits/tokens.ts';
import { exactLikeMatcher } from './service-command.ts';

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

export const comparisons: ReadonlySet<string> = new Set(['=', '==', '<>', '!=']);
export const orderings: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);
/** What is wrong about how the column at this place is compared. `mayBeNull`: by the statement, as an outer join makes it. */
export function ofColumn(
  column: LogicalColumn,
  tokens: readonly Token[],
  at: number,
  mayBeNull: boolean,
): readonly Caution[] {
  const more = [ofOrder, ofPattern, ofNumber, ...(mayBeNull ? [] : [ofNull])];
  return [
    ...comparedWith(tokens, at).flatMap((literal) => ofLiteral(column, literal) ?? ofId(column, literal) ?? []),
    ...(column.name === 'severity_number' ? ofLevel(tokens, at) : []),
    ...more.flatMap((look) => look(column, tokens, at) ?? []),
  ];
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
