import { SightlineError, Stopped } from '../../src/contract/core/index.ts';
import { type SqlHelpers, type TableName } from '../../src/contract/telemetry/index.ts';
import { EngineFailure, EngineLost } from './channel.ts';
import { functionNames } from './gate/functions.ts';

/**
 * The caller's view of a failure: a code and a text of ours. The engine's message can hold other rows' values, so it
 * goes to `cause`; only names that the caller wrote are taken out of it.
 */
export function explain(error: unknown, helpers: SqlHelpers, tables: readonly TableName[] = []): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof Stopped) {
    return error.reason === 'timeout'
      ? new SightlineError('query_timeout', 'The query took too long and was stopped.', {
          hint: 'Narrow the time window, filter on service_name, or aggregate instead of returning rows.',
          cause: error,
        })
      : new SightlineError('query_cancelled', 'The query was cancelled.', { cause: error });
  }
  if (error instanceof EngineLost) {
    return new SightlineError('telemetry_unavailable', 'The telemetry engine of this organization was restarted.', {
      hint: 'Send the query again; if it was a heavy one, narrow it first.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  if (!(error instanceof EngineFailure)) {
    return new SightlineError('telemetry_unavailable', 'The telemetry store does not answer.', {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  const { kind, message } = error.failure;
  switch (kind) {
    case 'interrupted':
      return new SightlineError('query_cancelled', 'The query was cancelled.', { cause: error });
    case 'busy':
      return new SightlineError('telemetry_unavailable', 'Too many queries of this organization run at once.', {
        hint: 'Send the query again in a few seconds.',
        retryAfterSeconds: 3,
        cause: error,
      });
    case 'not_select':
      return new SightlineError('sql_not_read_only', 'Only a single SELECT is let through.', { cause: error });
    case 'bad_batch':
    case 'engine':
      return engineError(message, helpers, tables, error);
  }
}

function engineError(message: string, helpers: SqlHelpers, tables: readonly TableName[], cause: Error): SightlineError {
  const [kind = ''] = message.split(':', 1);
  switch (/Cannot create a string of size/.test(message) ? 'Out of Memory Error' : kind) {
    case 'Out of Memory Error':
      return new SightlineError('query_memory', 'The query needs more memory than it may use.', {
        hint: 'Narrow the time window, return fewer columns, or aggregate before you sort, join or collect into lists.',
        cause,
      });
    case 'INTERRUPT Error':
      return new SightlineError('query_timeout', 'The query took too long and was stopped.', { cause });
    case 'Binder Error':
    case 'Catalog Error':
      return bindError(message, helpers, tables, cause);
    case 'Parser Error':
    case 'Syntax Error':
      return helpers.refuse('sql_syntax', 'The statement cannot be read.', { cause });
    case 'Conversion Error': {
      const source = typeNamed(/^Conversion Error: Type (\w+) with value /.exec(message)?.[1]) ?? 'text';
      const wanted = typeNamed(/.*\b(?:to|destination type) ([A-Z][A-Z0-9_]*)\b/s.exec(message)?.[1]);
      return helpers.refuse(
        'sql_failed',
        `A ${source === 'VARCHAR' ? 'text' : source} value could not be converted${wanted === undefined ? '' : ` to ${wanted}`}.`,
        {
          hint: 'Use TRY_CAST(x AS type), which gives NULL for what does not convert.',
          cause,
        },
      );
    }
    case 'Out of Range Error':
      return helpers.refuse('sql_failed', 'A number left the range of its type.', {
        hint: 'Cast to DOUBLE or HUGEINT before you calculate.',
        cause,
      });
    case 'Invalid Input Error':
      return helpers.refuse('sql_failed', invalidInput(message), {
        hint: 'Check the arguments: regular expressions are RE2, subqueries used as values must give one row, TRY(…) gives NULL on an error.',
        cause,
      });
    case 'IO Error':
      if (/No space left|Disk quota|File too large|max_temp_directory_size/i.test(message)) {
        return new SightlineError('query_memory', 'The query needs more temporary space than it may use.', {
          hint: 'Narrow the time window or aggregate earlier.',
          cause,
        });
      }
      return new SightlineError('telemetry_unavailable', 'The telemetry file could not be read.', { cause });
    case 'FATAL Error':
    case 'INTERNAL Error':
      return new SightlineError(
        'telemetry_unavailable',
        'The telemetry engine failed on this query and was restarted.',
        {
          hint: 'Write the query in another way.',
          retryAfterSeconds: 1,
          cause,
        },
      );
    default:
      return helpers.refuse('sql_failed', 'The engine could not run the statement.', {
        hint: 'Simplify the statement and try its parts.',
        cause,
      });
  }
}

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
  const alias = /Referenced table "([^"\n]*)" not found/.exec(message);
  if (alias?.[1] !== undefined) {
    return helpers.refuse('unknown_table', `Nothing in FROM is called "${short(alias[1])}".`, {
      hint: 'Use the alias given in FROM, or the table name without its schema.',
      cause,
    });
  }
  const table = /Table with name (\S+) does not exist/.exec(message);
  if (table?.[1] !== undefined) return helpers.unknownTable(table[1], { cause });
  const missing = /Function with name "?([^"\s]+)"? does not exist/.exec(message);
  if (missing?.[1] !== undefined) {
    const near = helpers.nearest(missing[1], functionNames);
    return helpers.refuse('unknown_function', `The function ${short(missing[1])} does not exist.`, {
      ...(near.length > 0 && { hint: `Did you mean ${near.join(' or ')}?` }),
      cause,
    });
  }
  const arguments_ = /No function matches the given name and argument types '([\w.]+\([\w\s,()[\]"]*\))'/.exec(message);
  if (arguments_?.[1] !== undefined) {
    return helpers.refuse('sql_failed', `No function ${short(arguments_[1])} takes these types.`, {
      hint: "Cast the arguments; attributes are VARCHAR: TRY_CAST(attributes['key'] AS DOUBLE).",
      cause,
    });
  }
  const ungrouped = /column "?([^"\n]+?)"? must appear in the GROUP BY clause/i.exec(message);
  if (ungrouped?.[1] !== undefined) {
    return helpers.refuse('sql_failed', `The column "${short(ungrouped[1])}" is neither grouped nor aggregated.`, {
      hint: 'Add it to GROUP BY, use GROUP BY ALL, or wrap it in any_value(…).',
      cause,
    });
  }
  const ambiguous = /Ambiguous reference to column name "([^"\n]+)"/.exec(message);
  if (ambiguous?.[1] !== undefined) {
    return helpers.refuse('sql_failed', `The column "${short(ambiguous[1])}" is in more than one table of FROM.`, {
      hint: 'Put the table alias before it.',
      cause,
    });
  }
  if (/aggregate|window function/i.test(message)) {
    return helpers.refuse('sql_failed', 'An aggregate or window function stands where none may be.', {
      hint: 'Filter aggregates with HAVING and window functions with QUALIFY, or use a subquery.',
      cause,
    });
  }
  return helpers.refuse('sql_failed', 'The names or types in the statement do not fit together.', {
    hint: 'Compare types: time columns are TIMESTAMP, attributes are MAP(VARCHAR, VARCHAR), counts are BIGINT. Cast where they differ.',
    cause,
  });
}

/** A name as a message shows it. */
function short(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
