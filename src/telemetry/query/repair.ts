import { SightlineError, type ErrorDetails } from '../../contract/core/index.ts';
import type { Dialect, ReadRules, TableName } from '../../contract/telemetry/index.ts';
import { attributeAdvice } from './catalog.ts';
import { cautionsOf, heed } from './cautions.ts';
import { isDenied, readableTable } from './governance.ts';
import { cureHabits } from './habits/index.ts';
import { columnHint, lastPart, quoteName, tableHint, unknownNameOf } from './helpers.ts';
import type { QueryWindow } from './result.ts';

/** Where a statement was when it failed, as far as a better error needs it. */
export interface FailedQuery {
  readonly sql: string;
  readonly window: QueryWindow | undefined;
  readonly dialect: Dialect;
  readonly now: Date;
  readonly timeoutMs: number;
  /** Once the statement was checked. */
  readonly tables: readonly TableName[] | undefined;
  /** What the caller may not read as it is. */
  readonly rules: ReadRules | undefined;
}

const minute = 60_000;
const hour = 60 * minute;

/** The same failure with what the caller needs to mend it: place, nearest names, what to write, or a narrower call. */
export function repair(error: SightlineError, query: FailedQuery): SightlineError {
  switch (error.code) {
    case 'query_timeout':
    case 'query_memory':
      return withLessTime(error, query);
    case 'unknown_table':
      return cured(error, query, unknownTable(error, query));
    case 'unknown_column':
      return unknownColumn(error, query);
    case 'sql_failed': {
      const said = error.hint ?? `Write ${query.dialect.name} ${query.dialect.version} SQL.`;
      return cured(error, query, /attributes/i.test(query.sql) ? `${said} ${attributeAdvice(query.dialect)}` : said);
    }
    case 'unknown_function':
    case 'sql_syntax':
      return cured(error, query, error.hint ?? `Write ${query.dialect.name} ${query.dialect.version} SQL.`);
    case 'sql_refused':
    case 'sql_not_read_only':
    case 'sql_multiple_statements':
      return cured(
        error,
        query,
        error.hint ?? 'Send one SELECT (WITH is allowed) that reads otel.spans, otel.metrics or otel.logs.',
      );
    default:
      return error;
  }
}

/** What to write instead, where the statement has something in it that fails here, or yields nothing once it does not. */
function cured(error: SightlineError, query: FailedQuery, otherwise = ''): SightlineError {
  const { dialect, tables = dialect.tables.map(({ name }) => name) } = query;
  const columns = new Map(
    dialect.tables
      .filter(({ name }) => tables.includes(name))
      .map((table) => [table.name, readableTable(table, query.rules).columns.map(({ name }) => name)] as const),
  );
  const cure = cureHabits({ sql: query.sql, dialect, columns, error });
  const sql = cure?.sql ?? query.sql;
  const cautions = cautionsOf(sql, tables, dialect);
  // An engine that could not compare or convert advises a cast, which yields nothing where the value is wrong.
  const replaced = cure !== undefined || (error.code === 'sql_failed' && cautions.length > 0);
  const failure = placed(
    error,
    query,
    [cure?.advice || (replaced && cure?.advice !== '' ? '' : otherwise), ...cautions.map(({ text }) => text)]
      .join(' ')
      .trim(),
  );
  const mended = cure === undefined || cure.sql !== undefined ? heed(sql, cautions) : query.sql;
  if (mended === query.sql || !replaced || failure.retry !== undefined) return failure;
  const { message, hint, position } = failure;
  const place = position === undefined ? {} : { position };
  return copy(failure, { message, details: { ...(hint !== undefined && { hint }), ...place, retry: { sql: mended } } });
}

/** The statement ran longer than `timeoutMs`. */
export function timedOut(query: FailedQuery, cause?: unknown): SightlineError {
  const seconds = query.timeoutMs / 1000;
  return withLessTime(
    new SightlineError('query_timeout', `The query was stopped after ${seconds} s.`, { cause }),
    query,
  );
}

function unknownTable(error: SightlineError, { dialect }: FailedQuery): string {
  const name = unknownNameOf(error);
  const tables = dialect.tables.map((table) => table.name);
  return name === undefined && error.hint !== undefined ? error.hint : tableHint(name ?? '', tables);
}

function unknownColumn(error: SightlineError, query: FailedQuery): SightlineError {
  const { dialect, tables = [], rules } = query;
  const attributes = `${attributeAdvice(dialect)} SHOW ATTRIBUTES FROM otel.${tables[0] ?? 'spans'} lists them.`;
  const name = unknownNameOf(error);
  if (name !== undefined && isDenied(lastPart(name).toLowerCase(), tables, rules)) {
    const denied = copy(error, {
      message: `Your role may not read the column ${quoteName(name)}.`,
      details: error.position === undefined ? {} : { position: error.position },
    });
    return placed(denied, query, `Leave it out. ${columnHint('', tables, rules)}`);
  }
  const listed = name === undefined && error.hint !== undefined ? error.hint : columnHint(name ?? '', tables, rules);
  return cured(error, query, `${listed} ${attributes}`);
}

/** Adds a hint and turns the position into line, column and what stands there. */
function placed(error: SightlineError, { sql }: FailedQuery, hint = error.hint): SightlineError {
  const place = placeOf(sql, error.position, error.message);
  return copy(error, {
    message: place === undefined ? error.message : `${error.message.replace(/[.\s]+$/, '')} (${place}).`,
    details: {
      ...(hint === undefined ? {} : { hint }),
      ...(place === undefined || error.position === undefined ? {} : { position: error.position }),
      ...(error.retry === undefined ? {} : { retry: error.retry }),
    },
  });
}

/** A quarter of the window, its newest part; without a window the last hour. */
function withLessTime(error: SightlineError, query: FailedQuery): SightlineError {
  const less = narrower(query, 1 / 4);
  const details = less.retry === undefined && error.hint !== undefined ? { hint: error.hint } : less;
  return copy(error, { message: error.message, details });
}

/** How to read that share of the window, its newest part; without one, of the last four hours. No retry where little is left. */
export function narrower(
  { sql, window, tables, now }: Pick<FailedQuery, 'sql' | 'window' | 'tables' | 'now'>,
  share: number,
): ErrorDetails {
  // What lies ahead of now holds nothing worth a second call.
  const end = window?.end !== undefined && window.end < now ? window.end : now;
  const width = (window?.start === undefined ? 4 * hour : end.getTime() - window.start.getTime()) * share;
  const readsTables = tables === undefined || tables.length > 0;
  if (!readsTables || !(width >= minute)) {
    return { hint: 'Group or filter earlier, select fewer columns, or join less.' };
  }
  const start = new Date(Math.floor((end.getTime() - width) / 1000) * 1000);
  return {
    hint: `Look at less time: send the arguments in retry (start ${start.toISOString()}), then widen. Filtering on time, service_name or trace_id first helps too.`,
    retry: { sql, start: start.toISOString(), end: end.toISOString() },
  };
}

function copy(
  error: SightlineError,
  { message, details }: { readonly message: string; readonly details: ErrorDetails },
): SightlineError {
  return new SightlineError(error.code, message, {
    ...details,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    cause: error.cause ?? error,
  });
}

/** `line 2, column 8, near "FORM"`, the last part only where `said` quotes nothing; undefined for a position outside. */
function placeOf(sql: string, position: number | undefined, said: string): string | undefined {
  if (position === undefined || !Number.isInteger(position) || position < 1 || position > sql.length + 1)
    return undefined;
  const before = sql.slice(0, position - 1);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const near = /^\s*(\S{1,40})/.exec(sql.slice(position - 1))?.[1]?.replace(/[\p{C}"]/gu, '');
  const at = `line ${line}, column ${before.length - lineStart + 1}`;
  if (near === undefined || near === '') return `${at}, at the end`;
  return said.includes('"') ? at : `${at}, near "${near}"`;
}
