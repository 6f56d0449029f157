import { DatabaseError } from 'pg';
import { SightlineError, Stopped } from '../../src/contract/core/index.ts';
import { type SqlHelpers, type TableName } from '../../src/contract/telemetry/index.ts';
import { RowTooLong } from './portal.ts';

const word = /^(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/u;

/**
 * The last part of the name that begins at the 1-based `position`, counted in characters as the server counts them;
 * undefined where something else stands there.
 */
export function nameAt(sql: string, position: number): string | undefined {
  if (!Number.isSafeInteger(position) || position < 1) return undefined;
  let rest = sql.slice(unitOf(sql, position - 1));
  let last: string | undefined;
  for (;;) {
    const part = word.exec(rest)?.[0];
    if (part === undefined) return last === undefined ? undefined : shown(last);
    last = part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase();
    rest = rest.slice(part.length);
    const dot = /^\s*\.\s*/.exec(rest);
    if (dot === null) return shown(last);
    rest = rest.slice(dot[0].length);
  }
}

function unitOf(sql: string, characters: number): number {
  let unit = 0;
  for (let passed = 0; passed < characters && unit < sql.length; passed += 1) {
    unit += (sql.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

function shown(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}

export interface FailureContext {
  readonly helpers: SqlHelpers;
  /** What was sent, for the names the caller wrote in it. */
  readonly sent: string;
  readonly tables: readonly TableName[];
}

/**
 * The caller's view of a failure: a code and a text of ours. The server's message can hold other rows' values and is in
 * the server's language, so it goes to `cause`; names are read where the server points in what was sent.
 */
export function explain(error: unknown, context: FailureContext): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof Stopped) return stopped(error);
  if (error instanceof RowTooLong) {
    return new SightlineError('query_memory', 'A row of the result is larger than 16 MB.', {
      hint: 'Return less of it: left(body, 1000), fewer columns, smaller arrays.',
      cause: error,
    });
  }
  if (error instanceof DatabaseError) return explainState(error, context);
  return unavailable('The telemetry warehouse does not answer.', error);
}

function stopped(error: Stopped): SightlineError {
  switch (error.reason) {
    case 'timeout':
      return timeout(error);
    case 'cancelled':
      return new SightlineError('query_cancelled', 'The query was cancelled.', { cause: error });
    case 'closing':
      return unavailable('The service is stopping.', error);
  }
}

function explainState(error: DatabaseError, context: FailureContext): SightlineError {
  const { helpers, sent, tables } = context;
  const { code: state = '' } = error;
  const name = nameAt(sent, Number(error.position));
  const sql = (code: Parameters<SqlHelpers['refuse']>[0], message: string, hint: string) =>
    helpers.refuse(code, message, { hint, cause: error });
  switch (state) {
    case '57014':
      return timeout(error);
    case '42703':
      return name === undefined
        ? sql('unknown_column', 'The statement names a column that is not there.', 'DESCRIBE otel.spans lists them.')
        : helpers.unknownColumn(name, tables, { cause: error });
    case '42883':
      return name === undefined
        ? sql('sql_failed', 'An operator does not take the types it stands between.', castHint)
        : sql('unknown_function', `No function ${name} takes arguments of these types.`, castHint);
    case '42P01':
      return name === undefined
        ? sql('unknown_table', 'The statement uses a name that FROM does not give.', aliasHint)
        : sql('unknown_table', `Nothing in FROM is called "${name}".`, aliasHint);
    case '42803':
      return sql(
        'sql_failed',
        'A column is neither grouped nor aggregated.',
        'Add it to GROUP BY, or wrap it in max(…).',
      );
    case '42702':
      return sql('sql_failed', 'A column is in more than one table of FROM.', 'Put the table alias before it.');
    case '42725':
      return sql('sql_failed', 'More than one function fits these arguments.', castHint);
    case '42804':
    case '42846':
    case '42P18':
    case '42P08':
      return sql('sql_failed', 'The types in the statement do not fit together.', castHint);
    case '42P20':
      return sql('sql_failed', 'A window function stands where none may be.', 'Filter on it in an outer SELECT.');
    case '42601':
      return sql('sql_syntax', 'The server cannot read the statement.', 'Write it in plain PostgreSQL.');
    case '42501':
      return refusedByServer(error);
    case '21000':
      return sql(
        'sql_failed',
        'A subquery used as a value gave more than one row.',
        'Aggregate in it, or add LIMIT 1.',
      );
    case '22012':
      return sql('sql_failed', 'A division by zero.', 'Divide by nullif(x, 0).');
    case '2201B':
      return sql('sql_failed', 'A regular expression cannot be read.', 'Regular expressions are POSIX, as with ~.');
    case '22P02':
    case '22007':
    case '22008':
    case '22003':
    case '22030':
      return sql('sql_failed', 'A value does not convert, or leaves the range of its type.', convertHint);
    case '25006':
      return sql('sql_not_read_only', 'Telemetry can only be read.', 'Write a single SELECT.');
    case '53100':
    case '53200':
    case '53400':
      return new SightlineError('query_memory', 'The query needs more memory or temporary space than it may use.', {
        hint: 'Narrow the time window, return fewer columns, or aggregate before you sort or join.',
        cause: error,
      });
    case '53300':
      return unavailable('The telemetry warehouse has no connection free.', error);
    case '57P05':
    case '25P03':
      return timeout(error);
    default:
      return explainClass(state, error, helpers);
  }
}

function explainClass(state: string, error: DatabaseError, helpers: SqlHelpers): SightlineError {
  const refuse = (message: string, hint: string) => helpers.refuse('sql_failed', message, { hint, cause: error });
  switch (state.slice(0, 2)) {
    case '22':
      return refuse('A function was given a value that it cannot take.', convertHint);
    case '54':
      return refuse('The statement is too large or nested too deeply.', 'Simplify it, or split it into several.');
    case '0A':
      return refuse('The server does not support this form.', 'Write it in another way.');
    case '42':
      return refuse('The names or types in the statement do not fit together.', castHint);
    case '28':
    case '3D':
      return refusedByServer(error);
    case '08':
    case '53':
    case '57':
    case '58':
    case 'XX':
      return unavailable('The telemetry warehouse ended the query.', error);
    default:
      return refuse('The server could not run the statement.', 'Simplify the statement and try its parts.');
  }
}

const castHint =
  "Cast where types differ: time is timestamptz, attributes are jsonb, so (attributes ->> 'key')::numeric for a number.";
const convertHint =
  "Convert only what fits: CASE WHEN attributes ->> 'key' ~ '^[0-9]+$' THEN (attributes ->> 'key')::bigint END.";
const aliasHint = 'Use the alias given in FROM, or the table name without its schema.';

function timeout(cause: unknown): SightlineError {
  return new SightlineError('query_timeout', 'The query took too long and was stopped.', {
    hint: 'Narrow the time window, filter on service_name, or aggregate instead of returning rows.',
    cause,
  });
}

function unavailable(message: string, cause: unknown): SightlineError {
  return new SightlineError('telemetry_unavailable', message, {
    hint: 'Send the query again in a few seconds.',
    retryAfterSeconds: 2,
    cause,
  });
}

/** The gate lets nothing through that a well set up login may not do, so this is for the operator to mend. */
function refusedByServer(cause: DatabaseError): SightlineError {
  return new SightlineError('telemetry_unavailable', 'The telemetry warehouse refused this query.', {
    hint: 'The operator of the service can find the cause with: sightline doctor',
    operatorMessage: `PostgreSQL refused the gateway's query (${cause.code ?? 'no code'}): ${cause.message}`,
    cause,
  });
}
