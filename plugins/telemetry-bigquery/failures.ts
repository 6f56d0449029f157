import { SightlineError } from '../../src/contract/core/index.ts';
import {
  commonFailures,
  sqlFailed,
  type SqlHelpers,
  type TableName,
  told,
  type Told,
} from '../../src/contract/telemetry/index.ts';
import { ApiFailure } from './api.ts';
import { functionNames } from './gate/policy.ts';
import type { DryRun } from './jobs.ts';

export interface FailureContext {
  readonly helpers: SqlHelpers;
  readonly tables: readonly TableName[];
  /** Whether the time was up or the caller left, where that is why. */
  readonly endedBy: 'deadline' | 'caller' | undefined;
  readonly maxBytesBilled: number;
  readonly sql: string;
}

/**
 * The caller's view of a failure: a code and a text of ours. BigQuery's message can hold other rows' values and names of
 * tables, so it goes to `cause`; only names are taken out of it.
 */
export function explain(error: unknown, context: FailureContext): SightlineError {
  if (error instanceof SightlineError) return error;
  if (context.endedBy === 'caller') return told(commonFailures.cancelled, error);
  if (context.endedBy === 'deadline') return told(commonFailures.timedOut, error);
  if (!(error instanceof ApiFailure)) return unavailable('The warehouse cannot be asked.', error);
  const { reason } = error;
  switch (reason) {
    case 'invalidQuery':
    case 'invalid':
    case 'parseError':
      return queryError(error, context);
    case 'bytesBilledLimitExceeded':
      return tooCostly(undefined, context.maxBytesBilled, error);
    case 'timeout':
    case 'stopped':
      return told(commonFailures.timedOut, error);
    case 'resourcesExceeded':
    case 'responseTooLarge':
    case 'billingTierLimitExceeded':
      return new SightlineError('query_memory', 'The query needs more resources than it may use.', {
        hint: 'Narrow the time window, aggregate before you sort or join, or add a LIMIT.',
        cause: error,
      });
    case 'quotaExceeded':
    case 'rateLimitExceeded':
    case 'jobRateLimitExceeded':
      return new SightlineError('telemetry_unavailable', 'The warehouse takes no more queries for the moment.', {
        hint: 'Send the query again later.',
        retryAfterSeconds: reason === 'quotaExceeded' ? 60 : 5,
        cause: error,
      });
    default:
      return unreachable(error);
  }
}

/** What has nothing to do with the statement. */
export function unreachable(error: ApiFailure): SightlineError {
  switch (error.reason) {
    case 'accessDenied':
    case 'notFound':
    case 'blocked':
    case 'billingNotEnabled':
      return unavailable('The warehouse does not let this service read.', error, error.reason);
    default:
      return unavailable('The warehouse does not answer.', error, error.reason);
  }
}

function unavailable(message: string, cause: unknown, reason = ''): SightlineError {
  const said = cause instanceof Error ? cause.message.slice(0, 500) : '';
  return new SightlineError('telemetry_unavailable', message, {
    retryAfterSeconds: 2,
    operatorMessage: `BigQuery: ${reason === '' ? '' : `${reason}: `}${said}`,
    cause,
  });
}

const name = String.raw`([A-Za-z_][\w.$-]{0,127})(?![\w.$-])`;

function queryError(error: ApiFailure, { helpers, tables, sql }: FailureContext): SightlineError {
  const { message } = error;
  // Messages about values quote them, and a value may read like any message: only its beginning is BigQuery's own, and
  // only a name that was sent goes back.
  const find = (pattern: string) => {
    const found = new RegExp(`^${pattern}`, 'i').exec(message)?.[1];
    return found !== undefined && sql.toLowerCase().includes(found.toLowerCase()) ? found : undefined;
  };
  const column =
    find(`Unrecognized name: \`?${name}`) ??
    find(`Name ${name} not found inside`) ??
    find(`Column name ${name} not found`) ??
    find(`Column ${name} in USING clause not found`);
  if (column !== undefined) return helpers.unknownColumn(column, tables, { cause: error });
  const routine = find(`Function not found: \`?${name}`);
  if (routine !== undefined) return helpers.unknownFunction(routine, functionNames, { cause: error });
  const ambiguous = find(`Column name ${name} is ambiguous`);
  if (ambiguous !== undefined) {
    const said = `The column "${ambiguous}" is in more than one table of FROM.`;
    return told(sqlFailed(said, 'Put the table alias before it.'), error);
  }
  const ungrouped = find(`[A-Za-z ]{0,60}expression references column ${name} which is neither grouped nor aggregated`);
  if (ungrouped !== undefined) {
    const said = `The column "${ungrouped}" is neither grouped nor aggregated.`;
    return told(sqlFailed(said, 'Add it to GROUP BY or use ANY_VALUE.'), error);
  }
  const signature = find(`No matching signature for (?:aggregate |analytic )?(?:function|operator) ${name}`);
  if (signature !== undefined) return told(sqlFailed(`${signature} does not take these types.`, castHint), error);
  return told(bySigns.find(([sign]) => sign.test(message))?.[1] ?? commonFailures.unknown, error);
}

const castHint = 'Cast: attributes are STRING, SAFE_CAST(… AS INT64).';

/** What a message says, the first that fits. */
const bySigns: readonly (readonly [RegExp, Told])[] = [
  [/Syntax error/i, { code: 'sql_syntax', message: 'The statement cannot be read.', hint: 'Write GoogleSQL.' }],
  [
    /Duplicate column names/i,
    sqlFailed('Two columns of the result have the same name.', 'Give each an alias of its own.'),
  ],
  [/mismatched column count/i, commonFailures.unevenUnion],
  [/No matching signature/i, sqlFailed('An operator does not take these types.', castHint)],
  [
    /Bad (?:int64|double|float64|bool|numeric) value|Invalid (?:timestamp|date|datetime)|Could not cast/i,
    sqlFailed('A value could not be converted.', 'Use SAFE_CAST, which gives NULL for what does not convert.'),
  ],
  [
    /division by zero|overflow|out of range/i,
    sqlFailed('A number left the range of its type, or was divided by zero.', 'Use SAFE_DIVIDE and NULLIF.'),
  ],
  [
    /more than one element/i,
    sqlFailed('A subquery used as a value gave more than one row.', 'Aggregate in it, or use ARRAY(…).'),
  ],
  [
    /Cannot parse regular expression|invalid regular expression/i,
    sqlFailed('A regular expression cannot be read.', 'Patterns are RE2.'),
  ],
  [/Array index .* out of bounds/i, sqlFailed('An array has fewer elements than that.', 'Use SAFE_OFFSET.')],
  [
    /Correlated subqueries/i,
    sqlFailed('A subquery reads columns of the outer query in a way BigQuery cannot.', 'Write it as a JOIN.'),
  ],
  [
    /resources exceeded/i,
    {
      code: 'query_memory',
      message: 'The query needs more resources than it may use.',
      hint: 'Narrow the time window, or aggregate before you sort or join.',
    },
  ],
];

/** BigQuery names no more tables than this. */
const mostTablesNamed = 50;
/** Throws unless BigQuery's dry run agrees with the gate: a second check, by the engine's own parser. */
export function checkDryRun(found: DryRun, allowed: ReadonlySet<string>, helpers: SqlHelpers): void {
  if (found.statementType !== 'SELECT') {
    throw helpers.refuse('sql_not_read_only', 'Only a single SELECT is allowed.');
  }
  const foreign = found.tables.some((table) => !allowed.has(table));
  if (foreign || found.tables.length >= mostTablesNamed) {
    throw helpers.refuse('sql_refused', 'The statement reads something else than telemetry.', {
      hint: 'The tables are otel.spans, otel.metrics, otel.logs.',
    });
  }
  if (found.routines > 0) {
    throw helpers.refuse('sql_refused', 'The statement calls a routine.', { hint: 'Use GoogleSQL’s own functions.' });
  }
  if (found.parameters > 0) {
    throw helpers.refuse('sql_refused', 'The statement has parameters.', {
      hint: 'Write the values into the statement.',
    });
  }
}

export function checkCost(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooCostly(bytes, maxBytes);
}

function tooCostly(bytes: number | undefined, maxBytes: number, cause?: unknown): SightlineError {
  const would = bytes === undefined ? 'more' : sizeText(bytes);
  return new SightlineError('query_too_costly', `The query would read ${would}; ${sizeText(maxBytes)} is the most.`, {
    hint: 'Narrow the time window and name the columns you need instead of *.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function sizeText(bytes: number): string {
  if (bytes >= 1e12) return `${(bytes / 1e12).toFixed(1)} TB`;
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
