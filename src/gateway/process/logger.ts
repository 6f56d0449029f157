import pino from 'pino';
import type { Logger } from '../../contract/core/index.ts';
import { serializeError } from './log-error.ts';
import { requestFields } from './request-context.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

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

export interface LeveledLogger extends Logger {
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
