import { commonFailures, sqlFailed, unavailable, type Told } from '../../../src/contract/telemetry/index.ts';

const narrower = 'Narrow the time window, filter on service_name, return fewer columns, or aggregate earlier.';

const memory = (what: string): Told => ({
  code: 'query_memory',
  message: `The query needs more ${what} than it may use.`,
  hint: narrower,
});
const passing = (message: string): Told => unavailable(message, 'Send the query again in a moment.');

/** By the engine's error codes (src/Common/ErrorCodes.cpp). */
const byCodes: readonly (readonly [Told, readonly number[]])[] = [
  [
    sqlFailed(
      'A value could not be converted.',
      'Use the functions that give NULL for what does not convert: toInt64OrNull(x), toFloat64OrNull(x), parseDateTimeBestEffortOrNull(x).',
    ),
    [6, 27, 38, 41, 70, 72, 349, 467, 675],
  ],
  [
    sqlFailed(
      'A function was given a value that it cannot take.',
      'Check the arguments: regular expressions are RE2, array indexes begin with 1, subqueries used as values must give one row.',
    ),
    [36, 69, 127, 128, 131, 395, 407],
  ],
  [sqlFailed('A subquery used as a value gave more than one row.', 'Aggregate in it or add LIMIT 1.'), [125]],
  [sqlFailed('A number was divided by zero.', 'Use nullIf(x, 0), or / instead of intDiv.'), [153]],
  [
    sqlFailed('A regular expression cannot be read.', 'Regular expressions are RE2; a backslash is written twice.'),
    [427],
  ],
  [
    sqlFailed(
      'The types in the statement do not fit together.',
      'Compare types: time columns are DateTime64, attributes are Map(String, String), counts are integers. Convert where they differ.',
    ),
    [42, 43, 44, 53, 130, 386],
  ],
  [sqlFailed('There is no type of this name.', 'For example Int64, Float64, String, DateTime64(3).'), [50]],
  [
    sqlFailed(
      'A column is neither grouped nor aggregated, or an aggregate stands where none may be.',
      'Add the column to GROUP BY or wrap it in any(…); filter aggregates with HAVING.',
    ),
    [10, 184, 215],
  ],
  [sqlFailed('Two expressions have the same alias.', 'Give each an alias of its own.'), [179]],
  [sqlFailed('A subquery has no alias.', 'Write (SELECT …) AS name.'), [206]],
  [sqlFailed('A column is in more than one table of FROM.', 'Put the table alias before it.'), [207, 352]],
  [
    sqlFailed('The condition of a JOIN is not supported.', 'Join on equality of columns; put the rest into WHERE.'),
    [403],
  ],
  [{ code: 'sql_syntax', message: 'The statement cannot be read.', hint: 'Write ClickHouse SQL: one SELECT.' }, [62]],
  [
    sqlFailed('The statement is too large or nested too deeply.', 'Simplify it or ask in several statements.'),
    [161, 162, 167, 168, 306],
  ],
  [commonFailures.timedOut, [159]],
  [{ code: 'query_timeout', message: 'The query would take too long and was stopped.', hint: narrower }, [160]],
  [memory('memory'), [173, 241]],
  [memory('temporary space'), [243]],
  [
    {
      code: 'query_too_costly',
      message: 'The query reads or makes more rows or bytes than the warehouse allows.',
      hint: narrower,
    },
    [158, 191, 290, 307, 396],
  ],
  [
    {
      code: 'rate_limited',
      message: 'The quota of this service at the warehouse is used up for now.',
      hint: 'Send the query again later.',
      retryAfterSeconds: 60,
    },
    [201],
  ],
  [passing('The warehouse runs too many queries at once.'), [202]],
  [commonFailures.cancelled, [394, 734]],
  [
    {
      // Its operator has to mend it: which grant or table is missing is in the log.
      code: 'telemetry_unavailable',
      message: 'The warehouse does not let this service read what the query needs.',
      hint: 'The operator of this service can see why in its log and with `sightline doctor`.',
    },
    [60, 81, 115, 164, 192, 193, 194, 452, 497, 511, 516],
  ],
  [passing('The warehouse cannot answer now.'), [209, 210, 225, 236, 242, 279, 319, 425, 999]],
];

export const failures: ReadonlyMap<number, Told> = new Map(
  byCodes.flatMap(([told, codes]) => codes.map((code) => [code, told] as const)),
);

/** Where the warehouse gave no whole answer. */
export const noAnswer = passing('The warehouse does not answer.');
export const brokeOff = passing('The connection to the warehouse broke off.');
export const unknownFailure = sqlFailed(
  'The engine could not run the statement.',
  'Simplify the statement and try its parts.',
);
