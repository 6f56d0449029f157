import { tableNames, type TableName } from '../../../contract/telemetry/index.ts';
import { nearest } from '../nearest.ts';
import { isName, textOf, write, type Cure, type Statement, type Token } from './tokens.ts';

/** What a table is called elsewhere says what it holds: `otel_traces`, `default.otel_logs`, `metrics_gauge`. */
function tableMeant(name: string): TableName | undefined {
  const [near] = nearest(name, tableNames);
  const known = tableNames.find((table) => table === near);
  if (known !== undefined) return known;
  const words = name.toLowerCase().split(/[^a-z]+/);
  return words.flatMap((word) => tableWords[word] ?? []).at(0);
}

const tableWords: Readonly<Record<string, TableName>> = {
  metric: 'metrics',
  metrics: 'metrics',
  gauge: 'metrics',
  histogram: 'metrics',
  trace: 'spans',
  traces: 'spans',
  span: 'spans',
  spans: 'spans',
  log: 'logs',
  logs: 'logs',
};

/** A table by another name, or without its schema. */
export function tableOtherwise(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const before = tokens[at - 1]?.text;
  const first = tokens[at];
  if ((before !== 'from' && before !== 'join') || first === undefined || !isName(first)) return undefined;
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
  'select from where group by order having limit offset as and or not in is null case when then else end on join left right full inner outer cross using with distinct desc asc between like ilike interval date timestamp true false union all over partition filter within first last count sum min max any some exists array map struct cast if'.split(
    ' ',
  ),
);

/** A column by another name; of a name that stands after a dot its qualifier stays. */
export function columnOtherwise(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  const { columns, sql } = statement;
  if (token === undefined || !isName(token) || columns.size === 0 || tokens[at + 1]?.text === '(') return undefined;
  if (tokens[at + 1]?.text === '.' || (token.kind === 'word' && words.has(token.text))) return undefined;
  const isColumn =
    columns.has(token.text) &&
    (statement.dialect.name !== 'clickhouse' || textOf(statement, token, token) === token.text);
  const before = tokens[at - 1]?.text;
  if (
    isColumn ||
    ['from', 'join', 'as', 'otel', 'interval'].includes(before ?? '') ||
    statement.given.has(token.text) ||
    isTable(tokens, at)
  )
    return undefined;
  // As it was written: of `TraceId` the words can be told.
  const [near] = nearest(token.kind === 'word' ? sql.slice(token.start, token.end) : token.text, columns);
  return near === undefined ? undefined : unsaid(statement, token, token, near);
}

function isTable(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && tokens[at - 2]?.text === 'otel';
}

/** `WHERE is_error`, `error = true`. */
export function errorFlag(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [token, sign, value] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (!/^(is_error|iserror|has_error|error)$/.test(token?.text ?? '') || !statement.columns.has('status_code'))
    return undefined;
  const isCompared = sign?.text === '=' && ['true', '1', 'false', '0'].includes(value?.text ?? '');
  if (!isCompared && token?.text === 'error') return undefined;
  const isNegated = isCompared && (value?.text === 'false' || value?.text === '0');
  return write(statement, token, isCompared ? value : token, `status_code ${isNegated ? '<>' : '='} 'ERROR'`);
}
