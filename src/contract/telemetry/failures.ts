import type { Stopped } from '../core/component.ts';
import { SightlineError, type ErrorCode, type ErrorDetails } from '../core/errors.ts';

/** The caller's view of a failure, whatever the engine said. */
export interface Told extends Pick<ErrorDetails, 'hint' | 'retryAfterSeconds' | 'operatorMessage'> {
  readonly code: ErrorCode;
  readonly message: string;
}

export function told({ code, message, ...details }: Told, cause: unknown): SightlineError {
  return new SightlineError(code, message, { ...details, cause });
}

const timedOut: Told = {
  code: 'query_timeout',
  message: 'The query took too long and was stopped.',
  hint: 'Narrow the time window, filter on service_name, or aggregate instead of returning rows.',
};
const cancelled: Told = { code: 'query_cancelled', message: 'The query was cancelled.' };

/** How queries end that were stopped from outside, and loads that could not be stored. */
export const commonFailures = {
  timedOut,
  cancelled,
  /** It lies in the rows: the receiver puts the batch aside and goes on. */
  badBatch: { code: 'invalid_argument', message: 'The batch cannot be stored as it is.' },
  notWritten: {
    code: 'telemetry_unavailable',
    message: 'The telemetry could not be written.',
    retryAfterSeconds: 5,
  },
} as const satisfies Record<string, Told>;

export function stoppedFailure(error: Stopped): SightlineError {
  return told(error.reason === 'timeout' ? timedOut : cancelled, error);
}

/** @param who what its operator runs, e.g. `this service`. */
export function noSpace(who: string, cause: unknown): SightlineError {
  return new SightlineError('telemetry_full', 'There is no space left for telemetry.', {
    hint: `The operator of ${who} must free disk space or shorten retention.`,
    retryAfterSeconds: 60,
    cause,
  });
}

/** A name out of an engine's message, as ours show it. */
export function shownName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
