import { SightlineError, Stopped } from '../../src/contract/core/index.ts';
import {
  commonFailures,
  shownName,
  sqlFailed,
  stoppedFailure,
  told,
  unavailable,
  type SqlHelpers,
  type TableName,
  type Told,
} from '../../src/contract/telemetry/index.ts';
import { EngineFailure, EngineLost } from './channel.ts';
import { EngineUnreadable } from './engine-process.ts';
import { functionNames } from './gate/functions.ts';

/**
 * The caller's view of a failure: a code and a text of ours. The engine's message can hold other rows' values, so it
 * goes to `cause`; only names that the caller wrote are taken out of it.
 */
export function explain(error: unknown, helpers: SqlHelpers, tables: readonly TableName[] = []): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof Stopped) return stoppedFailure(error);
  if (error instanceof EngineLost) return told(restarted, error);
  if (!(error instanceof EngineFailure)) return told(noAnswer, error);
  const { kind, message } = error.failure;
  switch (kind) {
    case 'interrupted':
      return told(commonFailures.cancelled, error);
    case 'busy':
      return told(busy, error);
    case 'not_select':
      return told({ code: 'sql_not_read_only', message: 'Only a single SELECT is allowed.' }, error);
    case 'bad_batch':
    case 'engine':
      return engineError(message, helpers, tables, error);
  }
}

const restarted = unavailable(
  'The telemetry engine of this organization was restarted.',
  'Send the query again; if it was a heavy one, narrow it first.',
  1,
);
const noAnswer = unavailable('The telemetry store does not answer.');
const busy = unavailable(
  'Too many queries of this organization run at once.',
  'Send the query again in a few seconds.',
  3,
);
const crashed = unavailable(
  'The telemetry engine failed on this query and was restarted.',
  'Write the query in another way.',
  1,
);
const outOfMemory: Told = {
  code: 'query_memory',
  message: 'The query needs more memory than it may use.',
  hint: 'Narrow the time window, return fewer columns, or aggregate before you sort, join or collect into lists.',
};

/** By what the engine's message begins with. */
const kinds: Readonly<Record<string, Told>> = {
  'Out of Memory Error': outOfMemory,
  'INTERRUPT Error': { code: 'query_timeout', message: 'The query took too long and was stopped.' },
  'Parser Error': { code: 'sql_syntax', message: 'The statement cannot be read.' },
  'Syntax Error': { code: 'sql_syntax', message: 'The statement cannot be read.' },
  'Out of Range Error': sqlFailed(
    'A number left the range of its type.',
    'Cast to DOUBLE or HUGEINT before you calculate.',
  ),
  'IO Error': { code: 'telemetry_unavailable', message: 'The telemetry file could not be read.' },
  'FATAL Error': crashed,
  'INTERNAL Error': crashed,
};

function engineError(message: string, helpers: SqlHelpers, tables: readonly TableName[], cause: Error): SightlineError {
  const [kind = ''] = message.split(':', 1);
  if (/Cannot create a string of size/.test(message)) return told(outOfMemory, cause);
  switch (kind) {
    case 'Binder Error':
    case 'Catalog Error':
      return bindError(message, helpers, tables, cause);
    case 'Conversion Error': {
      const source = typeNamed(/^Conversion Error: Type (\w+) with value /.exec(message)?.[1]) ?? 'text';
      const wanted = typeNamed(/.*\b(?:to|destination type) ([A-Z][A-Z0-9_]*)\b/s.exec(message)?.[1]);
      const said = `A ${source === 'VARCHAR' ? 'text' : source} value could not be converted${wanted === undefined ? '' : ` to ${wanted}`}.`;
      return told(sqlFailed(said, 'Use TRY_CAST(x AS type), which gives NULL for what does not convert.'), cause);
    }
    case 'Invalid Input Error':
      return told(sqlFailed(invalidInput(message), argumentsHint), cause);
    case 'IO Error':
      if (!/No space left|Disk quota|File too large|max_temp_directory_size/i.test(message)) break;
      return told(
        {
          code: 'query_memory',
          message: 'The query needs more temporary space than it may use.',
          hint: 'Narrow the time window or aggregate earlier.',
        },
        cause,
      );
  }
  return told(kinds[kind] ?? commonFailures.unknown, cause);
}

const argumentsHint =
  'Check the arguments: regular expressions are RE2, subqueries used as values must give one row, TRY(…) gives NULL on an error.';

/** As the engine names them in its messages. */
const engineTypes =
  /^(?:BOOL|U?INT(?:8|16|32|64|128)|FLOAT|DOUBLE|DECIMAL|VARCHAR|BLOB|BIT|UUID|DATE|TIME|TIMESTAMP(?:_S|_MS|_NS)?|INTERVAL|INTEGER|STRUCT|MAP)$/;

/** A message quotes the value that did not convert, which a sender of telemetry wrote: only a known type's name leaves here. */
function typeNamed(word: string | undefined): string | undefined {
  return word !== undefined && engineTypes.test(word) ? word : undefined;
}

function invalidInput(message: string): string {
  if (/regular expression|regex|RE2|missing \)|missing \]/i.test(message))
    return 'A regular expression cannot be read.';
  if (/more than one row/i.test(message)) return 'A subquery used as a value gave more than one row.';
  if (/recursion|max expression depth/i.test(message)) return 'The statement is nested too deeply.';
  return 'A function was given a value that it cannot take.';
}

function bindError(message: string, helpers: SqlHelpers, tables: readonly TableName[], cause: Error): SightlineError {
  const column =
    /Referenced column "([^"\n]*)" (?:not found|was not found)/.exec(message) ??
    /does not have a column named "([^"\n]*)"/.exec(message) ??
    /Column "?([^"\s]+)"? (?:in .+ )?not found/i.exec(message);
  if (column?.[1] !== undefined) return helpers.unknownColumn(column[1], tables, { cause });
  const table = /Table with name (\S+) does not exist/.exec(message);
  if (table?.[1] !== undefined) return helpers.unknownTable(table[1], { cause });
  const missing = /Function with name "?([^"\s]+)"? does not exist/.exec(message);
  if (missing?.[1] !== undefined) return helpers.unknownFunction(missing[1], functionNames, { cause });
  for (const [sign, say] of bindFailures) {
    const found = sign.exec(message);
    if (found !== null) return told(say(shownName(found[1] ?? '')), cause);
  }
  return told(doNotFit, cause);
}

/** What a message says of a name, the first that fits. */
const bindFailures: readonly (readonly [RegExp, (name: string) => Told])[] = [
  [
    /Referenced table "([^"\n]*)" not found/,
    (name) => ({
      code: 'unknown_table',
      message: `Nothing in FROM is called "${name}".`,
      hint: 'Use the alias given in FROM, or the table name without its schema.',
    }),
  ],
  [
    /No function matches the given name and argument types '([\w.]+\([\w\s,()[\]"]*\))'/,
    (name) =>
      sqlFailed(
        `No function ${name} takes these types.`,
        "Cast the arguments; attributes are VARCHAR: TRY_CAST(attributes['key'] AS DOUBLE).",
      ),
  ],
  [
    /column "?([^"\n]+?)"? must appear in the GROUP BY clause/i,
    (name) =>
      sqlFailed(
        `The column "${name}" is neither grouped nor aggregated.`,
        'Add it to GROUP BY, use GROUP BY ALL, or wrap it in any_value(…).',
      ),
  ],
  [
    /Ambiguous reference to column name "([^"\n]+)"/,
    (name) => sqlFailed(`The column "${name}" is in more than one table of FROM.`, 'Put the table alias before it.'),
  ],
  [/Set operations can only apply to expressions with the same number/, () => commonFailures.unevenUnion],
  [
    /aggregate|window function/i,
    () =>
      sqlFailed(
        'An aggregate or window function stands where none may be.',
        'Filter aggregates with HAVING and window functions with QUALIFY, or use a subquery.',
      ),
  ],
];

const doNotFit = sqlFailed(
  'The names or types in the statement do not fit together.',
  'Compare types: time columns are TIMESTAMP, attributes are MAP(VARCHAR, VARCHAR), counts are BIGINT. Cast where they differ.',
);

/** Why the engine of an organization's file could not be had. */
export function notOpened(file: string, cause: unknown): SightlineError {
  if (cause instanceof EngineUnreadable && cause.full) {
    return new SightlineError('telemetry_full', `There is no space left to open ${file}.`, { cause });
  }
  if (cause instanceof EngineUnreadable) {
    return new SightlineError('telemetry_unavailable', `The telemetry file ${file} cannot be read.`, {
      hint: 'The operator of this service must look at the file: it is damaged or not accessible.',
      cause,
    });
  }
  return new SightlineError('telemetry_unavailable', 'The telemetry engine does not start.', {
    retryAfterSeconds: 2,
    cause,
  });
}
