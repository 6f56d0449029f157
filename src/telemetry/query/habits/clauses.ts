import { isName, listed, textOf, write, type Argument, type Cure, type Statement, type Token } from './tokens.ts';

/** `SELECT TOP 5 …` */
export function top(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [select, token, count] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (select?.text !== 'select' || token?.text !== 'top') return undefined;
  const inBrackets = count?.kind === 'sign';
  const number = inBrackets ? tokens[at + 3] : count;
  const last = inBrackets ? tokens[at + 4] : count;
  if (number?.kind !== 'number' || last === undefined) return undefined;
  const end = tokens.findLast(({ text }) => text !== ';')?.end;
  const rest = `${sql.slice(0, token.start).trimEnd()}${sql.slice(last.end, end)}`;
  const advice = `Leave TOP out, and write LIMIT ${number.text} at the end of the statement.`;
  return { advice, sql: `${rest} LIMIT ${number.text}` };
}

/** `LIMIT 5, 10` and `FETCH FIRST 5 ROWS ONLY`. */
export function limitOtherwise(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [limit, skip, comma, count] = [tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  const isFetch = limit?.text === 'fetch' && statement.dialect.name !== 'postgres';
  if (isFetch && comma?.kind === 'number' && tokens[at + 4]?.text === 'only')
    return write(statement, limit, tokens[at + 4], `LIMIT ${comma.text}`);
  if (limit?.text !== 'limit' || skip?.kind !== 'number' || comma?.text !== ',' || count?.kind !== 'number')
    return undefined;
  return write(statement, limit, count, `LIMIT ${count.text} OFFSET ${skip.text}`);
}

/** Words of ClickHouse after a table that change what is read. */
export function tableModifier(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [table, word, number] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (table === undefined || !isName(table) || tokens[at - 2]?.text !== '.') return undefined;
  const last =
    word?.text === 'final' ? word : word?.text === 'sample' && number?.kind === 'number' ? number : undefined;
  if (word === undefined || last === undefined) return undefined;
  return {
    advice: `Leave ${word.text.toUpperCase()} out.`,
    sql: sql.slice(0, word.start).trimEnd() + sql.slice(last.end),
  };
}

/** SQL in a fence of Markdown, with words around it. */
export function fenced(_: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const inside = at === 0 ? /```(?:[a-z]*[ \t]*\r?\n)?([\s\S]*?)```/i.exec(sql)?.[1]?.trim() : undefined;
  return inside ? { advice: 'Send the SQL alone, without Markdown.', sql: inside } : undefined;
}

/** ClickHouse's `FORMAT JSON` and `SETTINGS …` at the end. */
export function outputClause(tokens: readonly Token[], at: number, { sql, given }: Statement): Cure | undefined {
  const [word, name, third] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (word?.kind !== 'word' || name?.kind !== 'word' || at < 2 || /^(asc|desc)$/.test(name.text)) return undefined;
  // A name of the statement's own, and not behind a table.
  if (given.has(word.text) && tokens.some(({ text }, index) => text === word.text && tokens[index - 1]?.text === 'as'))
    return undefined;
  const isFormat = word.text === 'format' && (third === undefined || third.text === ';' || third.text === 'settings');
  if (!isFormat && !(word.text === 'settings' && third?.text === '=')) return undefined;
  return { advice: `Leave ${word.text.toUpperCase()} out.`, sql: sql.slice(0, word.start).trimEnd() };
}

/** ClickHouse's `PREWHERE`, alone or before a WHERE. */
export function prewhere(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { sql, dialect } = statement;
  const [word, first] = [tokens[at], tokens[at + 1]];
  if (word?.text !== 'prewhere' || word.kind !== 'word' || first === undefined || dialect.name === 'clickhouse')
    return undefined;
  const advice = 'Write WHERE for PREWHERE.';
  const where = tokens.findIndex(({ text, kind }, index) => index > at && kind === 'word' && text === 'where');
  if (where < 0) return { advice, sql: `${sql.slice(0, word.start)}WHERE${sql.slice(word.end)}` };
  const conditions = clauseOf(tokens, 'where');
  const [from, to] = [conditions?.[0], conditions?.at(-1)];
  if (from === undefined || to === undefined) return { advice };
  const [early, late] = [sql.slice(first.start, tokens[where - 1]?.end), sql.slice(from.start, to.end)];
  return { advice, sql: `${sql.slice(0, word.start)}WHERE (${early}) AND (${late})${sql.slice(to.end)}` };
}

/** ClickHouse's `LIMIT 5 BY x`, the first of each x, in DuckDB. */
export function limitBy(tokens: readonly Token[], at: number, { sql, dialect }: Statement): Cure | undefined {
  const [limit, count, by, first] = [tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (dialect.name !== 'duckdb' || limit?.text !== 'limit' || count?.kind !== 'number' || by?.text !== 'by')
    return undefined;
  const isKeyword = (names: string) => (token: Token) => token.kind === 'word' && names.split(' ').includes(token.text);
  const advice = `Write QUALIFY row_number() OVER (PARTITION BY …) <= ${count.text} before ORDER BY.`;
  const rest = tokens.findIndex(
    (token, index) => index > at && (isKeyword('limit offset format settings')(token) || token.text === ';'),
  );
  const last = tokens[rest < 0 ? tokens.length - 1 : rest - 1];
  const order = tokens.findLastIndex((token, index) => index < at && isKeyword('order')(token));
  if (first === undefined || last === undefined || tokens.filter(isKeyword('select')).length !== 1) return { advice };
  const sorted = order < 0 ? [] : listed(tokens.slice(order + 2, at), sql);
  const keys = listed(tokens.slice(at + 3, rest < 0 ? tokens.length : rest), sql);
  // A number would be no place in the list of SELECT there.
  const isPlace = (item: Argument) => item.tokens[0]?.kind === 'number' || /^all\b/i.test(item.text);
  if ([...sorted, ...keys].some(isPlace) || tokens.some(isKeyword('distinct qualify union over'))) return { advice };
  const ordered = order < 0 ? '' : ` ${sql.slice(tokens[order]?.start, tokens[at - 1]?.end)}`;
  const qualify = `QUALIFY row_number() OVER (PARTITION BY ${sql.slice(first.start, last.end)}${ordered}) <= ${count.text}`;
  const before = sql.slice(0, (tokens[order] ?? limit).start);
  return { advice: `Write ${qualify} before ORDER BY.`, sql: `${before}${qualify}${ordered}${sql.slice(last.end)}` };
}

/** Of several statements the first. */
export function severalStatements(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const token = tokens[at];
  if (token?.text !== ';' || token.kind !== 'sign' || tokens[at + 1] === undefined || at === 0) return undefined;
  return { advice: 'Send the statements one by one.', sql: sql.slice(0, token.start) };
}

const catalogs: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog', 'system']);
const catalogTables: ReadonlySet<string> = new Set(['sqlite_master', 'pg_tables', 'duckdb_columns', 'duckdb_tables']);
const noCatalog =
  'There is no catalog to read. Send DESCRIBE otel.spans for columns, SHOW TABLES, or SHOW ATTRIBUTES FROM otel.spans.';

export function informationSchema(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [before, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  const isPragma = at === 0 && (token?.text === 'pragma' || (token?.text === 'show' && next?.text === 'create'));
  if (!isPragma) {
    if (token === undefined || (before?.text !== 'from' && before?.text !== 'join')) return undefined;
    if (!catalogTables.has(token.text) && !(catalogs.has(token.text) && next?.text === '.')) return undefined;
  }
  const named = /(span|metric|log)s?\b/i.exec(sql)?.[1]?.toLowerCase();
  return { advice: noCatalog, sql: named === undefined ? 'SHOW TABLES' : `DESCRIBE otel.${named}s` };
}

/** `EXPLAIN SELECT …` */
export function explained(tokens: readonly Token[], at: number, { sql }: Statement): Cure | undefined {
  const [token, next] = [tokens[at], tokens[at + 1]];
  const select = next?.text === 'analyze' ? tokens[at + 2] : next;
  if (at !== 0 || token?.text !== 'explain' || select === undefined) return undefined;
  return { advice: 'Plans are not shown: send the SELECT itself.', sql: sql.slice(select.start) };
}

/** `COUNT DISTINCT x` without brackets. */
export function countWithoutBrackets(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [count, word, column] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (count?.text !== 'count' || word?.text !== 'distinct' || column === undefined || !isName(column)) return undefined;
  return write(statement, count, column, `count(DISTINCT ${textOf(statement, column, column)})`);
}

/** `ORDER BY count`, where nothing is called so. */
export function orderByCount(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  const before = tokens[at - 1]?.text;
  if (token?.text !== 'count' || token.kind !== 'word' || tokens[at + 1]?.text === '(') return undefined;
  if ((before !== 'by' && before !== ',') || statement.columns.has('count')) return undefined;
  if (!/\border\s+by\b/i.test(statement.sql.slice(0, token.start))) return undefined;
  return write(statement, token, token, 'count(*)');
}

/** Clauses of a SELECT, by where they begin; undefined where queries are in queries. */
function clauseOf(
  tokens: readonly Token[],
  name: 'select' | 'where' | 'group' | 'having',
): readonly Token[] | undefined {
  const ends: ReadonlySet<string> = new Set('from where group having order limit qualify window union'.split(' '));
  if (tokens.filter(({ text, kind }) => kind === 'word' && text === 'select').length !== 1) return undefined;
  let depth = 0;
  let from = tokens.length;
  for (const [at, { text, kind }] of tokens.entries()) {
    if (text === '(') depth += 1;
    else if (text === ')') depth -= 1;
    // In brackets, as in FILTER (WHERE …), and in WITHIN GROUP, a word begins no clause.
    if (depth !== 0 || (text === 'group' && tokens[at + 1]?.text !== 'by')) continue;
    if (at >= from && ((kind === 'word' && ends.has(text)) || text === ';')) return tokens.slice(from, at);
    if (from === tokens.length && kind === 'word' && text === name) from = at + (name === 'group' ? 2 : 1);
  }
  return from === tokens.length ? undefined : tokens.slice(from);
}

/** A column of SELECT that GROUP BY lacks. */
export function ungrouped(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { sql, misfits } = statement;
  if (!misfits || tokens[at]?.text !== 'group' || tokens[at + 1]?.text !== 'by') return undefined;
  const grouped = listed(clauseOf(tokens, 'group') ?? [], sql);
  const selected = listed(clauseOf(tokens, 'select') ?? [], sql);
  if (grouped.length === 0 || grouped.some(({ text }) => /^(all|rollup|cube|grouping)\b/i.test(text))) return undefined;
  const names = new Set(grouped.map(({ text }) => text.toLowerCase()));
  const missing = selected.filter(
    (item, index) => isColumn(item) && !names.has(nameOf(item)) && !names.has(String(index + 1)),
  );
  const last = grouped.at(-1)?.tokens.at(-1);
  if (missing.length === 0 || last === undefined) return undefined;
  const added = missing.map((item) => item.text).join(', ');
  return {
    advice: `Group by ${added} too, or aggregate it.`,
    sql: `${sql.slice(0, last.end)}, ${added}${sql.slice(last.end)}`,
  };
}

function isColumn({ tokens }: Argument): boolean {
  return tokens.every((token) => isName(token) || token.text === '.') && (tokens.length === 1 || tokens.length === 3);
}

function nameOf({ text }: Argument): string {
  return text.toLowerCase();
}

const aggregate = /\b(count|sum|avg|min|max)\s*\(/i;

/** `WHERE count(*) > 10`. */
export function aggregateInWhere(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { sql } = statement;
  const where = tokens[at];
  if (where?.text !== 'where' || where.kind !== 'word') return undefined;
  const conditions = clauseOf(tokens, 'where') ?? [];
  const group = clauseOf(tokens, 'group');
  const [first, last] = [conditions[0], conditions.at(-1)];
  const end = group?.at(-1);
  if (first !== tokens[at + 1]) return undefined;
  if (first === undefined || last === undefined || end === undefined || conditions.some(({ text }) => text === 'or'))
    return undefined;
  const parts = listed(conditions, sql, 'and').map((part) => part.text);
  const [having, kept] = [parts.filter((part) => aggregate.test(part)), parts.filter((part) => !aggregate.test(part))];
  if (having.length === 0 || clauseOf(tokens, 'having') !== undefined) return undefined;
  const rest = kept.length === 0 ? '' : `WHERE ${kept.join(' AND ')} `;
  const grouped = sql.slice(last.end, end.end).trimStart();
  const mended = `${sql.slice(0, where.start)}${rest}${grouped} HAVING ${having.join(' AND ')}${sql.slice(end.end)}`;
  return { advice: 'Aggregates are filtered by HAVING, after GROUP BY.', sql: mended };
}

/** `HAVING n > 10`, where the names of SELECT are not known yet. */
export function aliasInHaving(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { sql, dialect } = statement;
  const token = tokens[at];
  if (dialect.name !== 'postgres' || token?.kind !== 'word' || tokens[at + 1]?.text === '(') return undefined;
  const having = clauseOf(tokens, 'having');
  if (having?.includes(token) !== true) return undefined;
  const item = listed(clauseOf(tokens, 'select') ?? [], sql).find(
    (each) => each.tokens.length > 1 && each.tokens.at(-1)?.text === token.text && each.tokens.at(-2)?.text !== '.',
  );
  const end = item?.tokens.at(item.tokens.at(-2)?.text === 'as' ? -3 : -2);
  if (item === undefined || end === undefined) return undefined;
  return write(statement, token, token, sql.slice(item.tokens[0]?.start, end.end));
}

/** `a + ':'` where texts are joined by ||, `==`, and `[name]`. */
export function otherSigns(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [before, token, next, after] = [tokens[at - 1], tokens[at], tokens[at + 1], tokens[at + 2]];
  if (token?.kind !== 'sign' || !statement.misfits) return undefined;
  if (token.text === '+' && (before?.kind === 'string' || next?.kind === 'string'))
    return write(statement, token, token, '||');
  if (token.text === '==' && /^(postgres|bigquery)$/.test(statement.dialect.name))
    return write(statement, token, token, '=');
  const isNamed = before !== undefined && (isName(before) || before.text === ')' || before.text === ']');
  const isStart = before?.text === 'select' || before?.text === ',' || before?.text === '.' || before?.text === 'by';
  if (token.text !== '[' || (isNamed && !isStart) || next?.kind !== 'word' || after?.text !== ']') return undefined;
  return write(statement, token, after, textOf(statement, next, next));
}
