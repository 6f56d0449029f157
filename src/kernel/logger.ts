import pino from 'pino';
import type { Logger } from '../contract/index.ts';
import { serializeError } from './log-error.ts';

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

/** JSON lines on standard error, times in RFC 3339. Fields that could hold a secret are redacted two levels deep. */
export function createLogger({ level }: { level: LogLevel }): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
      serializers: { err: serializeError, error: serializeError, cause: serializeError },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
