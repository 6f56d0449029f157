import { SightlineError, Stopped } from '../../../src/contract/core/index.ts';
import { stoppedFailure, told, type SqlHelpers, type TableName } from '../../../src/contract/telemetry/index.ts';
import { FailedMidway, RowTooLong } from '../result/row-reader.ts';
import { MalformedRow } from '../result/walk.ts';
import { brokeOff, failures, noAnswer, unknownFailure } from './failure-codes.ts';

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
          hint: 'Attributes are String: toFloat64OrNull(attributes[…]), toInt64OrNull(…). Times are DateTime64: toDateTime(…).',
          cause,
        });
      }
    }
  }
  return told(failures[code] ?? unknownFailure, cause);
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
