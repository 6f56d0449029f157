import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Logger } from '../../contract/core/index.ts';

const longestText = 4_000;
const deepest = 6;
const mostParts = 200;

/**
 * A thrown value as the log has it, all parts short: an engine quotes values in its messages, and in full a statement
 * of sixty bytes wrote fifty megabytes.
 */
export function serializeError(thrown: unknown): unknown {
  let parts = 0;

  function serialize(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return short(value);
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Date) return value;
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    parts += 1;
    if (depth >= deepest || parts > mostParts) return '[more]';
    if (Array.isArray(value)) return value.slice(0, 20).map((item) => serialize(item, depth + 1));
    const members = Object.entries(value)
      .slice(0, 30)
      .map(([name, member]) => [short(name), serialize(member, depth + 1)] as const);
    if (!(value instanceof Error)) return Object.fromEntries(members);
    const { message, stack, cause } = value;
    return {
      type: value.constructor.name,
      message: short(message),
      stack: stack === undefined ? undefined : short(withoutMessage(stack, message)),
      ...Object.fromEntries(members),
      ...(cause === undefined ? {} : { cause: serialize(cause, depth + 1) }),
    };
  }

  return serialize(thrown, 0);
}

/** A stack begins with the message, which would take all the room there is when it is long. */
function withoutMessage(stack: string, message: string): string {
  const at = message.length > 200 ? stack.indexOf(message) : -1;
  return at === -1 ? stack : `${stack.slice(0, at)}…${stack.slice(at + message.length)}`;
}

function short(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText)}…[${text.length - longestText} characters cut]`;
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

const secretFields = [
  'authorization',
  'client_secret',
  'clientSecret',
  'token',
  'access_token',
  'refresh_token',
  'password',
  'secret',
  'cookie',
  'masterKey',
];

interface LeveledLogger extends Logger {
  /** From now on, for all loggers that come of this one too. */
  setLevel(level: LogLevel): void;
}

/** JSON lines on standard error, times in RFC 3339. Fields that could hold a secret are redacted two levels deep. */
export function createLogger({ level }: { level: LogLevel }): LeveledLogger {
  const lines = pino(
    {
      level: 'debug',
      base: null,
      mixin: requestFields,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
      errorKey: 'error',
      // A plugin may use pino's own name of the field.
      serializers: { err: serializeError, error: serializeError, cause: serializeError },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  let lowest = logLevels.indexOf(level);
  // pino gives a child the level of its birth; here one level holds for all, whenever it is set.
  const leveled = (to: Logger): Logger => ({
    debug: (fields, message) => void (lowest <= 0 && to.debug(fields, message)),
    info: (fields, message) => void (lowest <= 1 && to.info(fields, message)),
    warn: (fields, message) => void (lowest <= 2 && to.warn(fields, message)),
    error: (fields, message) => void (lowest <= 3 && to.error(fields, message)),
    child: (fields) => leveled(to.child(fields)),
  });
  return { ...leveled(lines), setLevel: (next) => void (lowest = logLevels.indexOf(next)) };
}

const requests = new AsyncLocalStorage<string | undefined>();

/** Whatever is logged while it runs, and in what it sets going, has the request's id. */
export function inRequest(run: () => void): void {
  requests.run(randomUUID(), run);
}

/** For what a request only sets off, and what is not its own then. */
export function outsideRequests(run: () => void): void {
  requests.run(undefined, run);
}

/** Of the request in which this stands; a new one outside of all. */
export function currentRequestId(): string {
  return requests.getStore() ?? randomUUID();
}

/** For every line of the log. */
function requestFields(): object {
  const id = requests.getStore();
  return id === undefined ? {} : { request_id: id };
}
