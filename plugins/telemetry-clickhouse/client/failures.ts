import { SightlineError, Stopped } from '../../../src/contract/core/index.ts';
import {
  byNames,
  commonFailures,
  type SqlHelpers,
  stoppedFailure,
  type TableName,
  told,
  type Told,
  unavailable,
} from '../../../src/contract/telemetry/index.ts';
import { FailedMidway, RowTooLong } from '../result/row-reader.ts';
import { MalformedRow } from '../result/walk.ts';

const narrower = 'Narrow the time window, filter on service_name, return fewer columns, or aggregate earlier.';

const failed = (codes: string, message: string, hint: string, code: Told['code'] = 'sql_failed') =>
  [{ code, message, hint }, codes] as const;
const passing = (message: string): Told => unavailable(message, 'Send the query again in a moment.');

/** By the engine's error codes (src/Common/ErrorCodes.cpp). */
const failures = byNames<Told>([
  failed(
    '6 27 38 41 70 72 349 467 675',
    'A value could not be converted.',
    'Use the functions that give NULL for what does not convert: toInt64OrNull(x), toFloat64OrNull(x), parseDateTimeBestEffortOrNull(x).',
  ),
  failed(
    '36 69 127 128 131 395 407',
    'A function was given a value that it cannot take.',
    'Check the arguments: regular expressions are RE2, array indexes begin with 1, subqueries used as values must give one row.',
  ),
  failed('125', 'A subquery used as a value gave more than one row.', 'Aggregate in it or add LIMIT 1.'),
  failed('153', 'A number was divided by zero.', 'Use nullIf(x, 0), or / instead of intDiv.'),
  failed('427', 'A regular expression cannot be read.', 'Regular expressions are RE2; a backslash is written twice.'),
  failed(
    '42 43 44 53 130 386',
    'The types in the statement do not fit together.',
    "Compare types and convert where they differ. Time columns are DateTime64, beside which a time is toDateTime64('2026-01-31 12:00:00', 9, 'UTC'); counts are integers, attributes are read as text.",
  ),
  [commonFailures.unevenUnion, '258'],
  failed('50', 'There is no type of this name.', 'For example Int64, Float64, String, DateTime64(3).'),
  failed(
    '10 184 215',
    'A column is neither grouped nor aggregated, or an aggregate stands where none may be.',
    'Add the column to GROUP BY or wrap it in any(…); filter aggregates with HAVING.',
  ),
  failed('179', 'Two expressions have the same alias.', 'Give each an alias of its own.'),
  failed('206', 'A subquery has no alias.', 'Write (SELECT …) AS name.'),
  failed('207 352', 'A column is in more than one table of FROM.', 'Put the table alias before it.'),
  failed('403', 'The condition of a JOIN is not supported.', 'Join on equality of columns; put the rest into WHERE.'),
  failed('62', 'The statement cannot be read.', 'Write ClickHouse SQL: one SELECT.', 'sql_syntax'),
  failed(
    '306',
    'The statement is nested, or recurs, too deeply.',
    'Simplify it. A recursive query counts its depth and ends by it: WHERE t.depth < 50.',
  ),
  failed(
    '161 162 167 168',
    'The statement is too large or nested too deeply.',
    'Simplify it or ask in several statements.',
  ),
  [commonFailures.timedOut, '159'],
  failed('160', 'The query would take too long and was stopped.', narrower, 'query_timeout'),
  failed('173 241', 'The query needs more memory than it may use.', narrower, 'query_memory'),
  failed('243', 'The query needs more temporary space than it may use.', narrower, 'query_memory'),
  failed(
    '158 191 290 307 396',
    'The query reads or makes more rows or bytes than the warehouse allows.',
    narrower,
    'query_too_costly',
  ),
  [
    {
      code: 'rate_limited',
      message: 'The quota of this service at the warehouse is used up for now.',
      hint: 'Send the query again later.',
      retryAfterSeconds: 60,
    },
    '201',
  ],
  [passing('The warehouse runs too many queries at once.'), '202'],
  [commonFailures.cancelled, '394 734'],
  // Its operator has to mend it: which grant or table is missing is in the log.
  failed(
    '60 81 115 164 192 193 194 452 497 511 516',
    'The warehouse does not let this service read what the query needs.',
    'The operator of this service can see why in its log and with `sightline doctor`.',
    'telemetry_unavailable',
  ),
  [passing('The warehouse cannot answer now.'), '209 210 225 236 242 279 319 425 999'],
]);

/** Where the warehouse gave no whole answer. */
const noAnswer = passing('The warehouse does not answer.');
const brokeOff = passing('The connection to the warehouse broke off.');

/** What the engine says went wrong, in place of a result or in the middle of one. Its message can hold rows' values. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** ClickHouse's own, see system.errors. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Undefined for what is no engine's word: a proxy's, or half of an answer. */
export function engineError(text: string): EngineError | undefined {
  // The first is the engine's own; what follows may quote anything.
  const [, code, message] = /Code: (\d+)\. [\w:]*Exception: ([^]*)/.exec(text) ?? [];
  return code === undefined ? undefined : new EngineError(Number(code), message ?? '');
}

/** A signal that aborts when the caller leaves or the time is over, whichever comes first; its reason is a Stopped. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.signal = this.#controller.signal;
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(new Stopped('timeout')), timeoutMs);
    if (caller.aborted) this.#leave();
    else caller.addEventListener('abort', this.#leave, { once: true });
  }

  readonly #leave = (): void => {
    this.#controller.abort(new Stopped('cancelled'));
  };

  /** Ends the deadline of a call that has its answer. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#leave);
  }
}

export interface Explaining {
  readonly helpers: SqlHelpers;
  readonly functions: Iterable<string>;
  readonly tables?: readonly TableName[];
}

/**
 * The caller's view of a failure: a code and a text of ours. The engine's message can hold other rows' values, so it
 * goes to `cause`; only names that the caller wrote are taken out of it.
 */
export function explain(error: unknown, about: Explaining): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof Stopped) return stoppedFailure(error);
  if (error instanceof RowTooLong) {
    const hint = 'Return fewer columns, or substring(column, 1, 1000) of the long ones.';
    return told({ code: 'sql_failed', message: 'A row of the result is larger than 16 MiB.', hint }, error);
  }
  const engines = error instanceof FailedMidway ? engineError(error.message) : error;
  if (engines instanceof EngineError) return byCode(engines, error, about);
  return told(error instanceof FailedMidway || error instanceof MalformedRow ? brokeOff : noAnswer, error);
}

function byCode({ code, message }: EngineError, cause: unknown, about: Explaining): SightlineError {
  const { helpers, functions, tables = [] } = about;
  switch (code) {
    case 8:
    case 16:
    case 47: {
      const name = named(
        message,
        /identifier [`']([^`'\n]{1,200})[`']|Missing columns: '([^'\n]{1,200})'|no column [`']?([\w.]+)/i,
      );
      if (name !== undefined) return helpers.unknownColumn(lastPart(name), tables, { cause });
      break;
    }
    case 46:
    case 63: {
      const name = named(
        message,
        /[Ff]unction (?:with name )?[`']?(\w{1,200})[`']? does not exist|[Uu]nknown (?:aggregate )?function [`']?(\w{1,200})/,
      );
      if (name !== undefined) return helpers.unknownFunction(name, functions, { cause });
      break;
    }
    case 42:
    case 43: {
      const name = named(message, /(?:of|for|in) function [`']?(\w{1,200})/);
      if (name !== undefined) {
        return helpers.refuse('sql_failed', `The function ${name} does not take these arguments.`, {
          hint: "A number in a text is toFloat64OrNull(…) or toInt64OrNull(…). Times are DateTime64: toDateTime64('2026-01-31 12:00:00', 9, 'UTC').",
          cause,
        });
      }
    }
  }
  return told(failures[code] ?? commonFailures.unknown, cause);
}

function named(message: string, pattern: RegExp): string | undefined {
  return pattern
    .exec(message)
    ?.slice(1)
    .find((group) => group !== undefined);
}

function lastPart(name: string): string {
  return name.split('.').at(-1) ?? name;
}
