import { byNames, commonFailures, sqlFailed, unavailable, type Told } from '../../../src/contract/telemetry/index.ts';

const narrower = 'Narrow the time window, filter on service_name, return fewer columns, or aggregate earlier.';

const failed = (codes: string, message: string, hint: string, code: Told['code'] = 'sql_failed') =>
  [{ code, message, hint }, codes] as const;
const passing = (message: string): Told => unavailable(message, 'Send the query again in a moment.');

/** By the engine's error codes (src/Common/ErrorCodes.cpp). */
export const failures = byNames<Told>([
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
    'Compare types: time columns are DateTime64, attributes are Map(String, String), counts are integers. Convert where they differ.',
  ),
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
    '161 162 167 168 306',
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
export const noAnswer = passing('The warehouse does not answer.');
export const brokeOff = passing('The connection to the warehouse broke off.');
export const unknownFailure = sqlFailed(
  'The engine could not run the statement.',
  'Simplify the statement and try its parts.',
);
