import { SightlineError } from '../../../src/contract/core/index.ts';
import { place, type ServerSettings } from './settings.ts';

export type Reason = readonly [cause: string, hint?: string];

// Told by their members and not by their class: under a test runner errors may be of another realm.
export function member(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

export function textMember(error: unknown, name: string): string | undefined {
  const value = member(error, name);
  return typeof value === 'string' ? value : undefined;
}

/** Of several tries of addresses, the last one's error says why. */
export function innermost(error: unknown): unknown {
  const errors = member(error, 'errors');
  return Array.isArray(errors) ? (errors.at(-1) ?? error) : error;
}

/** Place and cause are for the operator alone; the driver's own words stay in `cause`. */
export function unusable(settings: ServerSettings, [reason, hint]: Reason, cause: unknown): SightlineError {
  return new SightlineError('unavailable', 'The storage of this workspace cannot be used now.', {
    operatorMessage: [`The storage (${place(settings)}) cannot be used: ${reason}.`, hint].filter(Boolean).join(' '),
    retryAfterSeconds: 2,
    cause,
  });
}
