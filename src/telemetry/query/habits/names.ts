import { byNames, itemFields, tableNames, type TableName } from '../../../contract/telemetry/index.ts';
import { nearest } from '../nearest.ts';
import { nanoseconds } from './times.ts';
import { callAt, closing, isName, textOf, write, type Cure, type Statement, type Token } from './tokens.ts';

/** What a table is called elsewhere says what it holds: `otel_traces`, `default.otel_logs`, `metrics_gauge`. */
function tableMeant(name: string): TableName | undefined {
  const [near] = nearest(name, tableNames);
  const known = tableNames.find((table) => table === near);
  if (known !== undefined) return known;
  const words = name.toLowerCase().split(/[^a-z]+/);
  return words.flatMap((word) => tableWords[word] ?? []).at(0);
}

const tableWords = byNames<TableName>([
  ['metrics', 'metric metrics gauge histogram'],
  ['spans', 'trace traces span spans'],
  ['logs', 'log logs'],
]);

/** A table by another name, or without its schema. */
export function tableOtherwise(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const before = tokens[at - 1]?.text;
  const first = tokens[at];
  if ((before !== 'from' && before !== 'join') || first === undefined || tokens[at - 2]?.text === 'array')
    return undefined;
  // The whole name in one pair of quotes.
  const quoted = /^otel\.(spans|metrics|logs)$/i.exec(
    first.kind === 'quoted' || first.kind === 'string' ? first.text : '',
  );
  if (quoted !== null && statement.dialect.name !== 'bigquery')
    return unsaid(statement, first, first, quoted[0].toLowerCase());
  if (!isName(first)) return undefined;
  let end = at;
  while (tokens[end + 1]?.text === '.' && tokens[end + 2] !== undefined) end += 2;
  const last = tokens[end];
  if (last === undefined || tokens[end + 1]?.text === '(' || isInsideCall(tokens, at)) return undefined;
  const written = textOf(statement, first, last);
  if (/^\W?otel\W{1,3}(spans|metrics|logs)\W?$/i.test(written) || isCommonTable(tokens, first)) return undefined;
  const meant = tableMeant(last.text);
  return meant && unsaid(statement, first, last, `otel.${meant}`);
}

/** The error says which names there are. */
function unsaid({ sql }: Statement, { start }: Token, { end }: Token, text: string): Cure {
  return { advice: '', sql: sql.slice(0, start) + text + sql.slice(end) };
}

/** `EXTRACT(HOUR FROM time)`, `trim(both from x)`. */
function isInsideCall(tokens: readonly Token[], at: number): boolean {
  for (let before = at - 1, depth = 0; before >= 0; before -= 1) {
    const { text, kind } = tokens[before] ?? { text: '', kind: 'sign' };
    if (kind !== 'sign') {
      if (text === 'select' && depth === 0) return false;
      continue;
    }
    if (text === ')') depth += 1;
    else if (text === '(' && (depth -= 1) < 0) return true;
  }
  return false;
}

/** `WITH name AS (` or `, name AS (`. */
function isCommonTable(tokens: readonly Token[], { text }: Token): boolean {
  return tokens.some(
    (token, at) => token.text === text && tokens[at + 1]?.text === 'as' && tokens[at + 2]?.text === '(',
  );
}

/** Words that also mean something else where they stand in a statement. */
const words: ReadonlySet<string> = new Set(
  'select from where group by order having limit offset as and or not in is null case when then else end on join left right full inner outer cross using with distinct desc asc between like ilike interval true false union all over partition filter within first last count sum min max any some exists array map struct cast if window sample values current_date current_time'.split(
    ' ',
  ),
);

/** A column by another name; of a name that stands after a dot its qualifier stays. */
export function columnOtherwise(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  const { columns, sql } = statement;
  if (token === undefined || !isName(token) || columns.size === 0 || tokens[at + 1]?.text === '(') return undefined;
  const isField = tokens[at - 1]?.text === '.' && tokens[at - 2]?.text === ']';
  if (isField || tokens[at + 1]?.text === '.' || (token.kind === 'word' && words.has(token.text))) return undefined;
  if (token.kind === 'word' && isType(tokens, at)) return undefined;
  const isColumn =
    columns.has(token.text) &&
    (statement.dialect.name !== 'clickhouse' || textOf(statement, token, token) === token.text);
  const before = tokens[at - 1]?.text;
  if (
    isColumn ||
    ['from', 'join', 'as', 'otel', 'interval', 'collate'].includes(before ?? '') ||
    statement.given.has(token.text) ||
    isTable(tokens, at)
  )
    return undefined;
  // A field of an item is no column.
  const list = before === '.' ? listCalled(tokens, at - 2, statement) : undefined;
  if (list?.fields.includes(token.text) === true) return undefined;
  // As it was written: of `TraceId` the words can be told.
  const [near] = nearest(token.kind === 'word' ? sql.slice(token.start, token.end) : token.text, columns);
  if (near === undefined) return undefined;
  const first = before === '.' ? tokens[at - 2] : token;
  const scale = near === 'duration_nano' ? scaleOf(token.text) : 1;
  // A bound in milliseconds that is compared with nanoseconds holds for every span.
  return scale > 1 && first !== undefined
    ? write(
        statement,
        first,
        token,
        `(${sql.slice(first.start, token.start)}${near} / 1e${Math.log10(scale)})`,
        `${near} is a number of nanoseconds. `,
      )
    : unsaid(statement, token, token, near);
}

/** Nanoseconds in the unit that `duration_ms` or `latency_seconds` ends with. */
function scaleOf(name: string): number {
  const unit = /(?:_?([mu]s|ns)|_(s)(?:ec(?:ond)?s?)?)$/.exec(name);
  return nanoseconds[unit?.[1] ?? unit?.[2] ?? ''] ?? 1;
}

/** `x::int`, `TIMESTAMP '…'`, `CAST(time AS date)`, `timestamp WITH TIME ZONE`, `EXTRACT(DATE FROM time)`. */
function isType(tokens: readonly Token[], at: number): boolean {
  const [before, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (before?.text === '::') return true;
  if (!/^(date|timestamp)$/.test(token?.text ?? '')) return false;
  if (next?.kind === 'string' || next?.text === 'with' || next?.text === 'without') return true;
  return before?.text === '(' && tokens[at - 2]?.text === 'extract';
}

function isTable(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && tokens[at - 2]?.text === 'otel';
}

/** `WHERE is_error`, `error = true`. */
export function errorFlag(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [token, sign, value] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (!/^(is_error|iserror|has_error|error)$/.test(token?.text ?? '') || !statement.columns.has('status_code'))
    return undefined;
  if (statement.given.has(token?.text ?? '')) return undefined;
  const isCompared = sign?.text === '=' && ['true', '1', 'false', '0'].includes(value?.text ?? '');
  if (!isCompared && token?.text === 'error') return undefined;
  const isNegated = isCompared && (value?.text === 'false' || value?.text === '0');
  return write(statement, token, isCompared ? value : token, `status_code ${isNegated ? '<>' : '='} 'ERROR'`);
}

interface ItemList {
  readonly fields: readonly string[];
  /** The map of an item's attributes. */
  readonly attributes?: string;
}

/** Columns that are lists, by name. */
const itemsOf: ReadonlyMap<string, ItemList> = new Map<string, ItemList>([
  ...Object.entries(itemFields).map(([column, { others, attributes }]): [string, ItemList] => [
    column,
    { fields: [...others, attributes], attributes },
  ]),
  ['quantile_values', { fields: ['quantile', 'value'] }],
]);

/** The call of UNNEST at this place, the list it takes, and where the name stands that is given to it. */
function unnestAt(tokens: readonly Token[], at: number, { sql }: Statement) {
  const call = tokens[at]?.text === 'unnest' ? callAt(tokens, at, sql) : undefined;
  const list = itemsOf.get(call?.args[0]?.tokens.at(-1)?.text ?? '');
  if (call === undefined || list === undefined) return undefined;
  const close = tokens.indexOf(call.last, at);
  const alias = tokens[close + 1]?.text === 'as' ? close + 2 : close + 1;
  const token = tokens[alias];
  if (token === undefined || !isName(token) || words.has(token.text)) return undefined;
  const isListed = tokens[alias + 1]?.text === '(';
  return { call, list, alias, isListed, item: isListed ? (tokens[alias + 2]?.text ?? '') : token.text };
}

/** `FROM otel.spans, UNNEST(events) AS e`, which in DuckDB names a table of one column, and not the item. */
export function itemAlias(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const unnest = statement.dialect.name === 'duckdb' ? unnestAt(tokens, at, statement) : undefined;
  if (unnest === undefined || unnest.isListed || !isInFrom(tokens, at)) return undefined;
  const { call, list, alias, item } = unnest;
  const token = tokens[alias];
  if (token === undefined) return undefined;
  const table =
    ['t', 'items', 'unnested'].find((name) => tokens.every(({ text }) => text !== name)) ?? 'unnested_items';
  const named = textOf(statement, token, token);
  const edits = tokens.flatMap((each, index) => {
    const [before, next] = [tokens[index - 1], tokens[index + 1]];
    if (index === alias) return { start: each.start, end: each.end, text: `${table}(${named})` };
    // The column by its name in DuckDB, with and without the alias.
    if (each.text !== 'unnest' || each.kind !== 'word' || next?.text === '(') return [];
    const qualifier = before?.text === '.' ? tokens[index - 2] : undefined;
    if (before?.text === '.' && qualifier?.text !== item) return [];
    return { start: qualifier?.start ?? each.start, end: each.end, text: named };
  });
  const sql = edits.reduceRight(
    (text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end),
    statement.sql,
  );
  const key = list.attributes === undefined ? '' : ` and ${named}.${list.attributes}['…']`;
  const first = list.fields.find((field) => field !== 'time') ?? '';
  const advice = `Write ${textOf(statement, call.first, call.last)} AS ${table}(${named}), then ${named}.${first}${key}.`;
  return { advice, sql };
}

/** Whether this place is in a FROM, and not in the SELECT before it. */
function isInFrom(tokens: readonly Token[], at: number): boolean {
  for (let before = at - 1, depth = 0; before >= 0; before -= 1) {
    const { text, kind } = tokens[before] ?? { text: '', kind: 'sign' };
    if (text === ')' && kind === 'sign') depth += 1;
    else if (text === '(' && kind === 'sign' && (depth -= 1) < 0) return false;
    else if (depth === 0 && kind === 'word' && /^(from|join|select|where|by)$/.test(text))
      return text === 'from' || text === 'join';
  }
  return false;
}

/** `e['exception.type']` and `e.exception.type`, where e is an event or `unnest(events)`: the key is of its attributes. */
export function itemAttribute(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const first = tokens[at];
  if (statement.dialect.name !== 'duckdb' || first === undefined || !isName(first) || tokens[at - 1]?.text === '.')
    return undefined;
  const end = first.text === 'unnest' && tokens[at + 1]?.text === '(' ? closing(tokens, at + 1) : at;
  const [sign, key, then] = [tokens[end + 1], tokens[end + 2], tokens[end + 3]];
  const list = sign?.text === '[' || sign?.text === '.' ? listCalled(tokens, at, statement) : undefined;
  if (list?.attributes === undefined || key === undefined || list.fields.includes(key.text)) return undefined;
  const parts = [key.text];
  let last = end + 3;
  if (sign?.text === '.') {
    for (last = end + 2; tokens[last + 1]?.text === '.' && tokens[last + 2]?.kind === 'word'; last += 2)
      parts.push(tokens[last + 2]?.text ?? '');
    const [near] = parts.length === 1 ? nearest(key.text, list.fields) : [];
    if (near !== undefined) return write(statement, key, key, near);
    if (parts.length === 1) return undefined;
  } else if (key.kind !== 'string' || then?.text !== ']') return undefined;
  const item = textOf(statement, first, tokens[end]);
  const read = statement.dialect.write.attribute(`${item}.${list.attributes}`, parts.join('.'));
  return write(statement, first, tokens[last], read);
}

/** The list whose item is so called at this place. */
function listCalled(tokens: readonly Token[], at: number, statement: Statement): ItemList | undefined {
  const name = tokens[at]?.text;
  if (name === 'unnest') return itemsOf.get(callAt(tokens, at, statement.sql)?.args[0]?.tokens.at(-1)?.text ?? '');
  return tokens
    .flatMap((_, index) => unnestAt(tokens, index, statement) ?? [])
    .find(({ item, isListed, alias }) => item === name && (isListed || !isInFrom(tokens, alias)))?.list;
}

/** ClickHouse's `ARRAY JOIN events AS e`. */
export function arrayJoin(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [array, join] = [tokens[at], tokens[at + 1]];
  if (statement.dialect.name !== 'duckdb' || array?.text !== 'array' || join?.text !== 'join') return undefined;
  const isQualified = tokens[at + 3]?.text === '.';
  const last = at + (isQualified ? 4 : 2);
  const [as, alias, more] = [tokens[last + 1], tokens[last + 2], tokens[last + 3]];
  if (as?.text !== 'as' || alias === undefined || !isName(alias) || more?.text === ',') return undefined;
  const kind = tokens[at - 1]?.text;
  const first = kind === 'left' || kind === 'inner' ? tokens[at - 1] : array;
  const unnest = `UNNEST(${textOf(statement, tokens[at + 2], tokens[last])}) AS t(${textOf(statement, alias, alias)})`;
  const { sql } = statement;
  const before = sql.slice(0, first?.start).trimEnd();
  const joined = kind === 'left' ? ` LEFT JOIN ${unnest} ON true` : `, ${unnest}`;
  return { advice: `Write ${joined.replace(/^,? /, '')} in FROM.`, sql: before + joined + sql.slice(alias.end) };
}
