import type { Dialect } from '../../contract/telemetry/index.ts';
import { dateArithmetic, durationAsText, relativeTime } from './time-habits.ts';
import {
  closing,
  isName,
  textOf,
  tokensOf,
  write,
  type Cure,
  type Habit,
  type Statement,
  type Token,
} from './tokens.ts';

const maps: ReadonlySet<string> = new Set(['attributes', 'resource_attributes']);
const numericSigns: ReadonlySet<string> = new Set(['=', '==', '<>', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/']);

/** Longer ones are not looked at: this is advice, and must cost little. */
const longest = 8_192;
/** Replaced in one statement. */
const mostCures = 20;

/** What to do about a statement that failed; undefined where nothing in it is known to be another dialect's. */
export function cureHabits(sql: string, dialect: Dialect): Cure | undefined {
  if (sql.length > longest) return undefined;
  const advices = new Set<string>();
  let cured = sql;
  for (let turn = 0; turn < mostCures; turn += 1) {
    const cure = firstCure({ sql: cured, dialect });
    if (cure === undefined) break;
    advices.add(cure.advice);
    if (cure.sql === undefined) return { advice: [...advices].join(' ') };
    cured = cure.sql;
  }
  return advices.size === 0 ? undefined : { advice: [...advices].slice(0, 3).join(' '), sql: cured };
}

function firstCure(statement: Statement): Cure | undefined {
  const tokens = tokensOf(statement.sql, statement.dialect.name);
  for (const habit of habits) {
    for (let at = 0; at < tokens.length; at += 1) {
      const cure = habit(tokens, at, statement);
      if (cure !== undefined && cure.sql !== statement.sql) return cure;
    }
  }
  return undefined;
}

const habits: readonly Habit[] = [
  backticks,
  attributeAsNumber,
  attributeByDot,
  unnestInGroup,
  regularExpression,
  parametricQuantile,
  dateArithmetic,
  relativeTime,
  durationAsText,
  top,
  limitWithComma,
  informationSchema,
  doubleQuotedText,
];

function backticks(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  const { name } = statement.dialect;
  if (token?.kind !== 'backticked' || name === 'bigquery' || name === 'clickhouse') return undefined;
  const bare = /^[a-z_][a-z0-9_.]*$/i.test(token.text) ? token.text : `"${token.text.replaceAll('"', '""')}"`;
  return write(statement, token, token, bare, 'Backticks quote nothing here. ');
}

/** `attributes['k'] >= 500`, or what the dialect writes for it. */
function attributeAsNumber(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const key = attributeAt(tokens, at);
  if (key === undefined) return undefined;
  const sign = tokens[key.end + 1];
  if (sign?.kind !== 'sign' || !numericSigns.has(sign.text) || tokens[key.end + 2]?.kind !== 'number') return undefined;
  const writer = statement.dialect.write;
  const number = writer.number(writer.attribute(key.map, key.name));
  return write(statement, tokens[key.start], tokens[key.end], number, 'Attributes are text. ');
}

interface AttributeRead {
  /** The map, with what qualifies it. */
  readonly map: string;
  readonly name: string;
  /** Indexes of its first and last token. */
  readonly start: number;
  readonly end: number;
}

function attributeAt(tokens: readonly Token[], at: number): AttributeRead | undefined {
  const map = tokens[at];
  if (map?.kind !== 'word' || !maps.has(map.text)) return undefined;
  const [open, key, close] = [tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (key?.kind !== 'string') return undefined;
  const isQualified = tokens[at - 1]?.text === '.';
  const qualified = isQualified ? `${tokens[at - 2]?.text ?? ''}.${map.text}` : map.text;
  const read = { map: qualified, name: key.text, start: isQualified ? at - 2 : at };
  if (open?.text === '[' && close?.text === ']') return { ...read, end: at + 3 };
  return open?.text === '->>' ? { ...read, end: at + 2 } : undefined;
}

function attributeByDot(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const map = tokens[at];
  if (map?.kind !== 'word' || !maps.has(map.text)) return undefined;
  const words: Token[] = [];
  for (let next = at + 1; tokens[next]?.text === '.'; next += 2) {
    const word = tokens[next + 1];
    if (word === undefined || !isName(word)) break;
    words.push(word);
  }
  if (words.length === 0) return undefined;
  const read = statement.dialect.write.attribute(map.text, words.map(({ text }) => text).join('.'));
  return write(statement, map, words.at(-1), read, 'An attribute is read by its whole key. ');
}

function unnestInGroup(tokens: readonly Token[], at: number, { sql, dialect }: Statement): Cure | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word' || !['unnest', 'arrayjoin', 'explode'].includes(token.text)) return undefined;
  if (tokens[at + 1]?.text !== '(' || !/\bgroup\s+by\b/i.test(sql)) return undefined;
  if (tokens.slice(0, at).some(({ text }) => text === 'from')) return undefined;
  const from = dialect.write.unnestMap('s.attributes', 'a');
  return {
    advice: `Unnest in FROM, and group what comes out: SELECT a.key, count(*) FROM otel.spans AS s, ${from} GROUP BY a.key. SHOW ATTRIBUTES FROM otel.spans lists the keys at once.`,
  };
}

function regularExpression(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { dialect } = statement;
  const token = tokens[at];
  const isNegated = tokens[at - 1]?.text === 'not' || token?.text.startsWith('!') === true;
  const last = tokens[at - 1]?.text === 'not' ? at - 2 : at - 1;
  const operand = tokens[last];
  if (token === undefined || operand === undefined || !isName(operand)) return undefined;
  if (dialect.name === 'postgres' && token.kind === 'sign') return undefined;
  if (!regularSigns.has(token.text) || (token.kind !== 'sign' && token.kind !== 'word')) return undefined;
  const end = tokens[at + 1]?.text === 'to' ? at + 2 : at + 1;
  const pattern = tokens[end];
  if (pattern?.kind !== 'string') return undefined;
  const isQualified = tokens[last - 1]?.text === '.';
  const first = tokens[isQualified ? last - 2 : last];
  const column = textOf(statement, first, operand);
  const matches = dialect.write.matches(column, `${token.text.endsWith('*') ? '(?i)' : ''}${pattern.text}`);
  return write(statement, first, pattern, isNegated ? `NOT ${matches}` : matches);
}

const regularSigns: ReadonlySet<string> = new Set(['~', '~*', '!~', '!~*', 'rlike', 'regexp', 'similar']);

/** ClickHouse's `quantile(0.95)(x)`, and functions of that name with their arguments in another order. */
function parametricQuantile(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { sql, dialect } = statement;
  const token = tokens[at];
  if (
    token?.kind !== 'word' ||
    !/^(approx_)?(quantile(?!s)|percentile|median)/.test(token.text) ||
    tokens[at + 1]?.text !== '('
  ) {
    return undefined;
  }
  const close = closing(tokens, at + 1);
  const first = tokens.slice(at + 2, close);
  const fraction = first.find(({ kind }) => kind === 'number')?.text ?? '0.5';
  const second = tokens[close + 1]?.text === '(' ? closing(tokens, close + 1) : undefined;
  const argument =
    second === undefined
      ? first.find((each) => isName(each))?.text
      : sql.slice(tokens[close + 1]?.end, tokens[second]?.start).trim();
  if (argument === undefined || argument === '') return undefined;
  if (second === undefined && dialect.functions.includes(token.text)) return undefined;
  const share = Number(fraction) > 1 ? Number(fraction) / 100 : Number(fraction);
  return write(statement, token, tokens[second ?? close], dialect.write.quantile(argument, share));
}

function top(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [select, token, count] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (select?.text !== 'select' || token?.text !== 'top') return undefined;
  const inBrackets = count?.kind === 'sign';
  const number = inBrackets ? tokens[at + 3] : count;
  const last = inBrackets ? tokens[at + 4] : count;
  if (number?.kind !== 'number' || last === undefined) return undefined;
  const rest = `${sql.slice(0, token.start).trimEnd()}${sql.slice(last.end)}`.replace(/[\s;]+$/, '');
  const advice = `Leave TOP out, and write LIMIT ${number.text} at the end of the statement.`;
  return { advice, sql: `${rest} LIMIT ${number.text}` };
}

function limitWithComma(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [limit, skip, comma, count] = [tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (limit?.text !== 'limit' || skip?.kind !== 'number' || comma?.text !== ',' || count?.kind !== 'number')
    return undefined;
  return write(statement, limit, count, `LIMIT ${count.text} OFFSET ${skip.text}`);
}

const catalogs: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog', 'system']);
const catalogTables: ReadonlySet<string> = new Set(['sqlite_master', 'pg_tables', 'duckdb_columns', 'duckdb_tables']);

function informationSchema(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [before, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (token === undefined || (before?.text !== 'from' && before?.text !== 'join')) return undefined;
  if (!catalogTables.has(token.text) && !(catalogs.has(token.text) && next?.text === '.')) return undefined;
  const named = /(spans|metrics|logs)/i.exec(sql)?.[1]?.toLowerCase();
  return {
    advice:
      'There is no catalog to read. Send DESCRIBE otel.spans for columns, SHOW TABLES, or SHOW ATTRIBUTES FROM otel.spans.',
    sql: named === undefined ? 'SHOW TABLES' : `DESCRIBE otel.${named}`,
  };
}

/** `= "ERROR"`, where double quotes name a column. */
function doubleQuotedText(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, text, after] = [tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (column === undefined || !isName(column) || text?.kind !== 'quoted' || after?.text === '.') return undefined;
  const { tables } = statement.dialect;
  if (tables.some(({ columns }) => columns.some(({ name }) => name === text.text))) return undefined;
  if (!['=', '==', '<>', '!=', 'like', 'ilike'].includes(sign?.text ?? '')) return undefined;
  return write(statement, text, text, `'${text.text.replaceAll("'", "''")}'`, 'A text stands in single quotes. ');
}
