import { byNames, words, type DialectWriter } from '../../../contract/telemetry/index.ts';
import { attributeText, isThere } from './attributes.ts';
import {
  bracketsAt,
  callAt,
  literalOf,
  write,
  type Argument,
  type Call,
  type Caution,
  type Cure,
  type Source,
  type Statement,
  type Token,
  type Translation,
} from './tokens.ts';
import { timeFunctions } from './times.ts';

const withOne =
  (translate: (argument: string, writer: DialectWriter) => string): Translation =>
  ({ args: [one, another] }, writer) =>
    one === undefined || another !== undefined ? undefined : translate(one.text, writer);

const withTwo =
  (translate: (first: string, second: string, writer: DialectWriter) => string): Translation =>
  ({ args: [one, two, another] }, writer) =>
    one === undefined || two === undefined || another !== undefined ? undefined : translate(one.text, two.text, writer);

/** With the flag i in any case; other flags are not understood. */
const matches: Translation = ({ args: [subject, pattern, flags] }, writer) => {
  const literal = literalOf(pattern);
  const flag = flags === undefined ? '' : literalOf(flags)?.replace('c', '');
  if (subject === undefined || literal === undefined || (flag !== '' && flag !== 'i')) return undefined;
  return writer.matches(subject.text, flag === 'i' ? `(?i)${literal}` : literal);
};

/** LIKE is the same everywhere, but for how a wildcard is escaped. */
const contains =
  (anyCase: boolean): Translation =>
  ({ args: [subject, part] }, writer) => {
    const literal = literalOf(part);
    if (subject === undefined || literal === undefined || /[%_\\]/.test(literal)) return undefined;
    const like = writer.literal(`%${anyCase ? literal.toLowerCase() : literal}%`);
    return `${anyCase ? `lower(${subject.text})` : subject.text} LIKE ${like}`;
  };

const attribute: Translation = ({ args: [map, path] }, writer) => {
  const key = literalOf(path)
    ?.replace(/^\$\.?/, '')
    .replaceAll('"', '');
  return map === undefined || key === undefined ? undefined : attributeText(map.tokens, key, writer);
};

const jsonReaders = 'json_extract json_extract_string json_extract_scalar jsonextractstring json_value get_json_object';

/** `JSON_EXTRACT(attributes, '$.http.route')`, which looks for an object `http` and finds none. */
export function pathIntoAttributes(
  tokens: readonly Token[],
  at: number,
  { sql, dialect }: Source,
): Caution | undefined {
  const call = callAt(tokens, at, sql);
  if (call === undefined || !words(jsonReaders).includes(call.name)) return undefined;
  const [, path] = call.args;
  const read = /^\$\.\w+(\.\w+)+$/.test(literalOf(path) ?? '') ? attribute(call, dialect.write) : undefined;
  const { start } = call.first;
  const { end } = call.last;
  if (read === undefined || read === sql.slice(start, end)) return undefined;
  return { text: `A key of attributes has dots, and is no path. Write ${read}.`, edit: { start, end, text: read } };
}

const percentile =
  (fraction: number): Translation =>
  ({ args: [one] }, writer) =>
    one === undefined ? undefined : writer.quantile(one.text, fraction);

const either: Translation = ({ args: [condition, yes, no] }) =>
  condition === undefined || yes === undefined
    ? undefined
    : `CASE WHEN ${condition.text} THEN ${yes.text}${no === undefined ? '' : ` ELSE ${no.text}`} END`;
/** ClickHouse's multiIf: conditions, each with its value, and the value of the rest. */
const cases: Translation = ({ args }) => {
  const otherwise = args.at(-1);
  if (otherwise === undefined || args.length < 3 || args.length % 2 === 0) return undefined;
  const whens = args.flatMap(({ text: condition }, index) =>
    index % 2 === 0 && index < args.length - 1 ? `WHEN ${condition} THEN ${args[index + 1]?.text ?? ''}` : [],
  );
  return `CASE ${whens.join(' ')} ELSE ${otherwise.text} END`;
};
const replaced: Translation = ({ args: [one, pattern, by] }, writer) => {
  const [wanted, instead] = [literalOf(pattern), literalOf(by)];
  if (one === undefined || wanted === undefined || instead === undefined) return undefined;
  return writer.replaceRegexp(one.text, wanted, instead);
};
const joined: Translation = ({ args: [one, separator] }, writer) =>
  one === undefined ? undefined : writer.joined(one.text, literalOf(separator) ?? ', ');
/** An array without DISTINCT keeps what is double, and is not this. */
const distinct: Translation = ({ name, args: [one] }, writer) => {
  if (one?.tokens[0]?.text === 'distinct') return writer.distinctArray(one.text.replace(/^distinct\s+/i, ''));
  return one && /^(groupuniqarray|collect_set)$/.test(name) ? writer.distinctArray(one.text) : undefined;
};

const translations = byNames<Translation>([
  ...timeFunctions,
  [withOne((condition, writer) => writer.countIf(condition)), 'countif count_if'],
  [withTwo((value, condition) => `sum(CASE WHEN ${condition} THEN ${value} END)`), 'sumif sum_if'],
  [withTwo((value, condition) => `avg(CASE WHEN ${condition} THEN ${value} END)`), 'avgif avg_if'],
  [
    withOne((one) => `count(DISTINCT ${one})`),
    `uniq uniqexact uniqcombined uniqcombined64 uniqhll12 approx_count_distinct approx_distinct count_distinct
       countdistinct dcount`,
  ],
  [percentile(0.5), 'p50 median'],
  [percentile(0.9), 'p90'],
  [percentile(0.95), 'p95'],
  [percentile(0.99), 'p99'],
  [withTwo((value, by, writer) => writer.valueAt(value, by, 'max')), 'argmax arg_max max_by'],
  [withTwo((value, by, writer) => writer.valueAt(value, by, 'min')), 'argmin arg_min min_by'],
  [withOne((one, writer) => writer.anyValue(one)), 'any any_value anylast first'],
  [joined, 'group_concat string_agg listagg'],
  [distinct, 'groupuniqarray array_agg list collect_set'],
  [either, 'if iif'],
  [cases, 'multiif'],
  [
    withOne((one, writer) => writer.number(one)),
    'tofloat64ornull tofloat32ornull toint64ornull toint32ornull touint64ornull touint32ornull touint16ornull',
  ],
  [
    withOne((one, writer) => `coalesce(${writer.number(one)}, 0)`),
    'tofloat64orzero tofloat32orzero toint64orzero toint32orzero touint64orzero touint32orzero touint16orzero',
  ],
  [replaced, 'replaceregexpall'],
  [withTwo((value, otherwise) => `coalesce(${value}, ${otherwise})`), 'ifnull nvl isnull'],
  [withTwo((above, below, writer) => writer.ratio(above, below)), 'safe_divide'],
  [withOne((one) => `(${one} * 1.0)`), 'tofloat64 tofloat float'],
  [matches, 'match regexp_contains regexp_like regexp_matches rlike'],
  [contains(false), 'contains strpos instr position'],
  [contains(true), 'positioncaseinsensitive'],
  [attribute, jsonReaders],
]);

const presences: ReadonlySet<string> = new Set(words('mapcontains map_contains map_contains_key has'));

/** Calls of functions that are not here, and of functions with other arguments here. */
export function foreignCall(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  if (call === undefined || tokens[at - 1]?.text === '.') return undefined;
  const isKnown = statement.dialect.functions.some((name) => name.toLowerCase() === call.name);
  if (isKnown && !(statement.mayMisuse && mayMisfit.has(call.name))) return undefined;
  if (isKnown && !statement.misfits && !call.args.some(isTakenForColumn)) return undefined;
  if (isKnown && isOwnForm(call, statement)) return undefined;
  if (call.name === 'if' && call.args.length === 3 && statement.dialect.name === 'duckdb') return undefined;
  // All but UTC would be lost.
  if (ofTimes.has(call.name) && call.args.some((each) => /^[A-Za-z]+\/\w/.test(literalOf(each) ?? '')))
    return undefined;
  // `= ANY (ARRAY[…])` calls nothing.
  if (call.name === 'any' && /^(=|<>|!=|[<>]=?|i?like)$/.test(tokens[at - 1]?.text ?? '')) return undefined;
  const read = presences.has(call.name) ? attribute(call, statement.dialect.write) : undefined;
  const translated =
    read === undefined ? translations[call.name]?.(call, statement.dialect.write) : isThere(read, tokens, at);
  if (translated === undefined) return undefined;
  const last = afterComparison(tokens, at, call);
  return last && write(statement, call.first, last, translated);
}

/** A unit of time as a bare word, and a text in double quotes. */
function isTakenForColumn({ tokens: [only, more] }: Argument): boolean {
  if (only === undefined || more !== undefined) return false;
  return (
    only.kind === 'quoted' || (only.kind === 'word' && /^(second|minute|hour|day|week|month|year)s?$/.test(only.text))
  );
}

/** Whether the arguments stand as this dialect has them, so that the call is not why the statement failed. */
function isOwnForm({ name, args }: Call, { dialect }: Statement): boolean {
  const [first, second, third] = args;
  if (!/^(duckdb|postgres)$/.test(dialect.name) || args.some(isTakenForColumn)) return false;
  const isText = first?.tokens[0]?.kind === 'string';
  if (/^date(_?trunc|_?part|_?diff)$/.test(name)) return isText;
  if (name === 'time_bucket') return isText || first?.tokens[0]?.text === 'interval';
  if (name === 'date_bin') return third !== undefined;
  if (name !== 'string_agg') return /^(strftime|to_char|hour|epoch|contains)$/.test(name);
  const column = first?.tokens.length === 1 ? first.text.toLowerCase() : '';
  const isTextColumn = dialect.tables.some(({ columns }) =>
    columns.some((each) => each.name === column && each.type === 'string'),
  );
  // What is no text needs a cast in PostgreSQL; of DISTINCT and ORDER BY nothing may be lost.
  const isPlain = second?.tokens.length === 1 && first?.tokens.every(({ text: sign }) => !/^(distinct|::)$/.test(sign));
  return dialect.name === 'duckdb' || isTextColumn || isPlain !== true;
}

/** Functions of ClickHouse that DuckDB has by another name. */
const inDuckdb = byNames([
  ['list', 'grouparray'],
  ['unnest', 'arrayjoin'],
  ['starts_with', 'startswith'],
  ['ends_with', 'endswith'],
  ['lower', 'lowerutf8'],
  ['upper', 'upperutf8'],
  ['replace', 'replaceall'],
]);

/** `groupArray(x)`, `topK(3)(x)` and `has(body, 'x')` in DuckDB. */
export function duckdbCall(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = statement.dialect.name === 'duckdb' ? callAt(tokens, at, statement.sql) : undefined;
  if (call === undefined || tokens[at - 1]?.text === '.') return undefined;
  const { name, args, first, last } = call;
  const behind = bracketsAt(tokens, tokens.indexOf(last, at) + 1, statement.sql);
  const count = args[0]?.tokens[0]?.kind === 'number' && args.length === 1 ? args[0].text : undefined;
  const [counted] = behind?.args ?? [];
  if (behind !== undefined && count !== undefined && counted !== undefined) {
    if (name === 'topk') return write(statement, first, behind.last, `approx_top_k(${counted.text}, ${count})`);
    if (name === 'grouparray') return write(statement, first, behind.last, `list(${counted.text})[1:${count}]`);
  }
  const renamed = behind === undefined ? inDuckdb[name] : undefined;
  if (renamed !== undefined)
    return write(statement, first, last, `${renamed}(${args.map((each) => each.text).join(', ')})`);
  const [whole, part] = args;
  if (name !== 'has' || whole === undefined || part === undefined || args.length !== 2) return undefined;
  const column = whole.tokens.at(-1)?.text;
  const type = statement.dialect.tables.flatMap(({ columns }) => columns).find((each) => each.name === column)?.type;
  if (type === undefined || type === 'map') return undefined;
  return write(
    statement,
    first,
    last,
    `${type === 'string' ? 'contains' : 'list_contains'}(${whole.text}, ${part.text})`,
  );
}

const ofTimes: ReadonlySet<string> = new Set(timeFunctions.flatMap(([, names]) => words(names)));
/** Of one name in several dialects, with other arguments in each. */
const mayMisfit: ReadonlySet<string> = new Set([
  ...ofTimes,
  ...words('string_agg json_value json_extract jsonextractstring contains match has'),
]);

const positions: ReadonlySet<string> = new Set(['strpos', 'instr', 'position', 'positioncaseinsensitive']);

/** `strpos(a, 'b') > 0` is one condition; a position that is used otherwise has no other words. */
function afterComparison(tokens: readonly Token[], at: number, { name, last }: Call): Token | undefined {
  if (!positions.has(name)) return last;
  const close = tokens.indexOf(last, at);
  const [sign, zero] = [tokens[close + 1], tokens[close + 2]];
  return zero?.text === '0' && /^(>|<>|!=)$/.test(sign?.text ?? '') ? zero : undefined;
}

/** `sum(a = 'b')`, where a condition is no number. */
export function sumOfCondition(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  const [one, another] = call?.args ?? [];
  if (call?.name !== 'sum' || one === undefined || another !== undefined || !statement.misfits) return undefined;
  const isCondition = one.tokens.some(({ text: sign }) => ['=', '<>', '!=', '>', '<', '>=', '<='].includes(sign));
  if (!isCondition || one.tokens.some(({ text: word }) => word === 'case' || word === 'select')) return undefined;
  return write(statement, call.first, call.last, statement.dialect.write.countIf(one.text));
}

/** `count(*) FILTER (WHERE c)`, which BigQuery lacks. */
export function filterClause(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = statement.dialect.name === 'bigquery' ? callAt(tokens, at, statement.sql) : undefined;
  if (call === undefined) return undefined;
  const close = tokens.indexOf(call.last, at);
  const filter = tokens[close + 1]?.text === 'filter' ? bracketsAt(tokens, close + 2, statement.sql) : undefined;
  const condition = /^where\s+(.+)$/is.exec(filter?.args.map(({ text: part }) => part).join(', ') ?? '')?.[1];
  const [argument] = call.args;
  if (filter === undefined || condition === undefined || argument === undefined) return undefined;
  const counted = call.name === 'count' && argument.text === '*';
  const instead = counted
    ? statement.dialect.write.countIf(condition)
    : `${call.name}(CASE WHEN ${condition} THEN ${argument.text} END)`;
  return write(statement, call.first, filter.last, instead);
}
