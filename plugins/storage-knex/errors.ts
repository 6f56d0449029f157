import { SightlineError, type Reason } from '../../src/contract/core/index.ts';
import { place, type ServerSettings } from './config.ts';

// Told by their members and not by their class: under a test runner errors may be of another realm.
export function member(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

export function textMember(error: unknown, name: string): string | undefined {
  const value = member(error, name);
  return typeof value === 'string' ? value : undefined;
}

/** What cannot be used, and the cause, are for the operator alone; the driver's own words stay in `cause`. */
export function unusable(
  what: string,
  [reason, hint]: Reason,
  cause: unknown,
  retryAfterSeconds?: number,
): SightlineError {
  return new SightlineError('unavailable', 'The storage of this workspace cannot be used now.', {
    operatorMessage: [`The storage ${what} cannot be used: ${reason}.`, hint].filter(Boolean).join(' '),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause,
  });
}

/** Codes with which a connection ends that was open. */
export const lostCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
]);

/** Of several tries of addresses, the last one's error says why. */
export function innermost(error: unknown): unknown {
  const errors = member(error, 'errors');
  return Array.isArray(errors) ? (errors.at(-1) ?? error) : error;
}

export function unusableServer(settings: ServerSettings, reason: Reason, cause: unknown): SightlineError {
  return unusable(`(${place(settings)})`, reason, cause, 2);
}
