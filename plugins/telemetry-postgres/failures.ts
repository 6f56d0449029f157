import { DatabaseError } from 'pg';
import { SightlineError, Stopped } from '../../src/contract/core/index.ts';
import {
  byNames,
  commonFailures,
  shownName,
  sqlFailed,
  stoppedFailure,
  told,
  unavailable,
  unitAt,
  type SqlHelpers,
  type TableName,
  type Told,
} from '../../src/contract/telemetry/index.ts';
import { countedMark } from './gate/counted.ts';
import { apartFrom } from './gate/read.ts';
import { RowTooLong } from './portal.ts';

const word = /^(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)/u;

/**
 * The last part of the name that begins at the 1-based `position`, counted in characters as the server counts them;
 * undefined where something else stands there.
 */
export function nameAt(sql: string, position: number): string | undefined {
  if (!Number.isSafeInteger(position) || position < 1) return undefined;
  let rest = sql.slice(unitAt(sql, position - 1));
  let last: string | undefined;
  for (;;) {
    const part = word.exec(rest)?.[0];
    if (part === undefined) return last === undefined ? undefined : shownName(last);
    last = part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase();
    rest = rest.slice(part.length);
    const dot = /^\s*\.\s*/.exec(rest);
    if (dot === null) return shownName(last);
    rest = rest.slice(dot[0].length);
  }
}

export interface FailureContext {
  readonly helpers: SqlHelpers;
  /** What was sent, for the names the caller wrote in it. */
  readonly sent: string;
  readonly tables: readonly TableName[];
  /** What the mapping reads. */
  readonly sources: readonly string[];
}

/**
 * The caller's view of a failure: a code and a text of ours. The server's message can hold other rows' values and is in
 * the server's language, so it goes to `cause`; names are read where the server points in what was sent.
 */
export function explain(error: unknown, context: FailureContext): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof Stopped) {
    return error.reason === 'closing' ? told(passing('The service is stopping.'), error) : stoppedFailure(error);
  }
  if (error instanceof RowTooLong) {
    return new SightlineError('query_memory', 'A row of the result is larger than 16 MB.', {
      hint: 'Return less of it: left(body, 1000), fewer columns, smaller arrays.',
      cause: error,
    });
  }
  if (error instanceof DatabaseError) return explainState(error, context);
  return told(passing('The telemetry warehouse does not answer.'), error);
}

const castHint =
  "Cast where types differ: time is timestamptz, attributes are jsonb, so (attributes ->> 'key')::numeric for a number.";
const convertHint =
  "Convert only what fits: CASE WHEN attributes ->> 'key' ~ '^[0-9]+$' THEN (attributes ->> 'key')::bigint END.";
const aliasHint = 'Use the alias given in FROM, or the table name without its schema.';

const passing = (message: string): Told => unavailable(message, 'Send the query again in a few seconds.');

/** By SQLSTATE, else by its class. */
const states = byNames<Told>([
  [commonFailures.timedOut, '57014 57P05 25P03'],
  [
    {
      code: 'unknown_column',
      message: 'The statement names a column that is not there.',
      hint: 'DESCRIBE otel.spans lists them.',
    },
    '42703',
  ],
  [sqlFailed('An operator does not take the types it stands between.', castHint), '42883'],
  [{ code: 'unknown_table', message: 'The statement uses a name that FROM does not give.', hint: aliasHint }, '42P01'],
  [sqlFailed('A column is neither grouped nor aggregated.', 'Add it to GROUP BY, or wrap it in max(…).'), '42803'],
  [sqlFailed('A column is in more than one table of FROM.', 'Put the table alias before it.'), '42702'],
  [sqlFailed('More than one function fits these arguments.', castHint), '42725'],
  [sqlFailed('The types in the statement do not fit together.', castHint), '42804 42846 42P18 42P08'],
  [sqlFailed('A window function stands where none may be.', 'Filter on it in an outer SELECT.'), '42P20'],
  [
    { code: 'sql_syntax', message: 'The server cannot read the statement.', hint: 'Write it in plain PostgreSQL.' },
    '42601',
  ],
  [sqlFailed('A subquery used as a value gave more than one row.', 'Aggregate in it, or add LIMIT 1.'), '21000'],
  [sqlFailed('A division by zero.', 'Divide by nullif(x, 0).'), '22012'],
  [sqlFailed('A regular expression cannot be read.', 'Regular expressions are POSIX, as with ~.'), '2201B'],
  [
    sqlFailed('A value does not convert, or leaves the range of its type.', convertHint),
    '22P02 22007 22008 22003 22030',
  ],
  [{ code: 'sql_not_read_only', message: 'Telemetry can only be read.', hint: 'Write a single SELECT.' }, '25006'],
  [
    {
      code: 'query_memory',
      message: 'The query needs more memory or temporary space than it may use.',
      hint: 'Narrow the time window, return fewer columns, or aggregate before you sort or join.',
    },
    '53100 53200 53400',
  ],
  [passing('The telemetry warehouse has no connection free.'), '53300'],
  // What we prepared is not there, or there already: a pooler has put another session in place of ours.
  [passing("The telemetry warehouse changed the query's session."), '26000 42P05'],
  [
    sqlFailed(
      'A text in the warehouse is no valid UTF-8, so it cannot be sent.',
      'Leave that column out, or narrow the window to rows that have none of it.',
    ),
    '22021 22P05',
  ],
  [sqlFailed('A function was given a value that it cannot take.', convertHint), '22'],
  [sqlFailed('The statement is too large or nested too deeply.', 'Simplify it, or split it into several.'), '54'],
  [sqlFailed('The server does not support this form.', 'Write it in another way.'), '0A'],
  [sqlFailed('The names or types in the statement do not fit together.', castHint), '42'],
  [passing('The telemetry warehouse ended the query.'), '08 53 57 58 XX'],
]);
const heldTooMuch: Told = {
  code: 'query_memory',
  message: 'The lists and texts that the query puts together need more memory than it may use.',
  hint: 'Aggregate fewer rows or shorter values: a narrower time window, left(x, 200), DISTINCT, a subquery with LIMIT.',
};
const unknownFailure = sqlFailed(
  'The server could not run the statement.',
  'Simplify the statement and try its parts.',
);

/** Whether the server points at what we wrote for a table, and not at the caller's own words. */
function isOurs({ position }: DatabaseError, { sent, sources }: FailureContext): boolean {
  const at = unitAt(sent, Number(position ?? 0) - 1);
  return at < sent.indexOf(apartFrom) || sources.some((from) => sent.startsWith(from, at));
}

/**
 * By the routine of the server that found it (field `R` of its error). Their state is that of what cannot be parsed, as by a
 * server that is older than the gate's grammar.
 */
const unevenIn = byNames<Told>([
  [commonFailures.unevenUnion, 'transformSetOperationTree'],
  [sqlFailed('The rows of VALUES differ in length.', 'Give each row as many values.'), 'transformValuesClause'],
  [sqlFailed('A subquery used as a value has more than one column.', 'Select one column in it.'), 'transformSubLink'],
]);

function explainState(error: DatabaseError, context: FailureContext): SightlineError {
  const { helpers, sent, tables } = context;
  const { code: state = '' } = error;
  const name = nameAt(sent, Number(error.position));
  if (state === '22P02' && error.message.includes(countedMark)) return told(heldTooMuch, error);
  if (state === '42501' || /^(?:28|3D)/.test(state)) return refusedByServer(error);
  if (state.startsWith('42') && isOurs(error, context)) return refusedByServer(error);
  const uneven = state === '42601' ? unevenIn[error.routine ?? ''] : undefined;
  if (uneven !== undefined) return told(uneven, error);
  if (name !== undefined && state === '42703') return helpers.unknownColumn(name, tables, { cause: error });
  if (name !== undefined && state === '42883') {
    const message = `No function ${name} takes arguments of these types.`;
    return told({ code: 'unknown_function', message, hint: castHint }, error);
  }
  if (name !== undefined && state === '42P01') {
    return told({ code: 'unknown_table', message: `Nothing in FROM is called "${name}".`, hint: aliasHint }, error);
  }
  return told(states[state] ?? states[state.slice(0, 2)] ?? unknownFailure, error);
}

/** The gate lets nothing through that a well set up login may not do, so this is for the operator to mend. */
function refusedByServer(cause: DatabaseError): SightlineError {
  return new SightlineError('telemetry_unavailable', 'The telemetry warehouse refused this query.', {
    hint: 'The operator of the service can find the cause with: sightline doctor',
    operatorMessage: `PostgreSQL refused the gateway's query (${cause.code ?? 'no code'}): ${cause.message}`,
    cause,
  });
}
