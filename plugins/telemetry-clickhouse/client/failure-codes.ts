import type { ErrorCode } from '../../../src/contract/core/index.ts';

/** The caller's view of a failure. */
export interface Told {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly retryAfterSeconds?: number;
}

const narrower = 'Narrow the time window, filter on service_name, return fewer columns, or aggregate earlier.';

const conversion: Told = {
  code: 'sql_failed',
  message: 'A value could not be converted.',
  hint: 'Use the functions that give NULL for what does not convert: toInt64OrNull(x), toFloat64OrNull(x), parseDateTimeBestEffortOrNull(x).',
};
const types: Told = {
  code: 'sql_failed',
  message: 'The types in the statement do not fit together.',
  hint: 'Compare types: time columns are DateTime64, attributes are Map(String, String), counts are integers. Convert where they differ.',
};
const aggregation: Told = {
  code: 'sql_failed',
  message: 'A column is neither grouped nor aggregated, or an aggregate stands where none may be.',
  hint: 'Add the column to GROUP BY or wrap it in any(…); filter aggregates with HAVING.',
};
const tooDeep: Told = {
  code: 'sql_failed',
  message: 'The statement is too large or nested too deeply.',
  hint: 'Simplify it or ask in several statements.',
};
const tooMuch: Told = {
  code: 'query_too_costly',
  message: 'The query reads or makes more rows or bytes than the warehouse allows.',
  hint: narrower,
};
const unavailable: Told = {
  code: 'telemetry_unavailable',
  message: 'The warehouse cannot answer now.',
  hint: 'Send the query again in a moment.',
  retryAfterSeconds: 2,
};
/** What its operator has to mend: which grant or table is missing is in the log. */
const misconfigured: Told = {
  code: 'telemetry_unavailable',
  message: 'The warehouse does not let this service read what the query needs.',
  hint: 'The operator of this service can see why in its log and with `sightline doctor`.',
};
const value: Told = {
  code: 'sql_failed',
  message: 'A function was given a value that it cannot take.',
  hint: 'Check the arguments: regular expressions are RE2, array indexes begin with 1, subqueries used as values must give one row.',
};

/** By the engine's error codes (src/Common/ErrorCodes.cpp). */
export const failures: Readonly<Record<number, Told>> = {
  6: conversion,
  27: conversion,
  38: conversion,
  41: conversion,
  70: conversion,
  72: conversion,
  349: conversion,
  467: conversion,
  675: conversion,
  36: value,
  69: value,
  125: {
    code: 'sql_failed',
    message: 'A subquery used as a value gave more than one row.',
    hint: 'Aggregate in it or add LIMIT 1.',
  },
  127: value,
  128: value,
  131: value,
  153: {
    code: 'sql_failed',
    message: 'A number was divided by zero.',
    hint: 'Use nullIf(x, 0), or / instead of intDiv.',
  },
  395: value,
  407: value,
  427: {
    code: 'sql_failed',
    message: 'A regular expression cannot be read.',
    hint: 'Regular expressions are RE2; a backslash is written twice.',
  },
  42: types,
  43: types,
  44: types,
  53: types,
  130: types,
  386: types,
  50: {
    code: 'sql_failed',
    message: 'There is no type of this name.',
    hint: 'For example Int64, Float64, String, DateTime64(3).',
  },
  10: aggregation,
  184: aggregation,
  215: aggregation,
  179: { code: 'sql_failed', message: 'Two expressions have the same alias.', hint: 'Give each an alias of its own.' },
  206: { code: 'sql_failed', message: 'A subquery has no alias.', hint: 'Write (SELECT …) AS name.' },
  207: {
    code: 'sql_failed',
    message: 'A column is in more than one table of FROM.',
    hint: 'Put the table alias before it.',
  },
  352: {
    code: 'sql_failed',
    message: 'A column is in more than one table of FROM.',
    hint: 'Put the table alias before it.',
  },
  403: {
    code: 'sql_failed',
    message: 'The condition of a JOIN is not supported.',
    hint: 'Join on equality of columns; put the rest into WHERE.',
  },
  62: { code: 'sql_syntax', message: 'The statement cannot be read.', hint: 'Write ClickHouse SQL: one SELECT.' },
  161: tooDeep,
  162: tooDeep,
  167: tooDeep,
  168: tooDeep,
  306: tooDeep,
  159: {
    code: 'query_timeout',
    message: 'The query took too long and was stopped.',
    hint: 'Narrow the time window, filter on service_name, or aggregate instead of returning rows.',
  },
  160: {
    code: 'query_timeout',
    message: 'The query would take too long and was stopped.',
    hint: narrower,
  },
  173: { code: 'query_memory', message: 'The query needs more memory than it may use.', hint: narrower },
  241: { code: 'query_memory', message: 'The query needs more memory than it may use.', hint: narrower },
  243: { code: 'query_memory', message: 'The query needs more temporary space than it may use.', hint: narrower },
  158: tooMuch,
  191: tooMuch,
  290: tooMuch,
  307: tooMuch,
  396: tooMuch,
  201: {
    code: 'rate_limited',
    message: 'The quota of this service at the warehouse is used up for now.',
    hint: 'Send the query again later.',
    retryAfterSeconds: 60,
  },
  202: { ...unavailable, message: 'The warehouse runs too many queries at once.' },
  394: { code: 'query_cancelled', message: 'The query was cancelled.' },
  734: { code: 'query_cancelled', message: 'The query was cancelled.' },
  60: misconfigured,
  81: misconfigured,
  115: misconfigured,
  164: misconfigured,
  192: misconfigured,
  193: misconfigured,
  194: misconfigured,
  452: misconfigured,
  497: misconfigured,
  511: misconfigured,
  516: misconfigured,
  209: unavailable,
  210: unavailable,
  225: unavailable,
  236: unavailable,
  242: unavailable,
  279: unavailable,
  319: unavailable,
  425: unavailable,
  999: unavailable,
};
