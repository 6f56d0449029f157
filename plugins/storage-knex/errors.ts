import { SightlineError } from '../../src/contract/core/index.ts';

export type Reason = readonly [cause: string, hint?: string];

/** What codes mean in words for an operator. Codes that mean the same stand together, separated by spaces. */
export function reasons(table: Readonly<Record<string, Reason>>): ReadonlyMap<string, Reason> {
  return new Map(Object.entries(table).flatMap(([codes, reason]) => codes.split(' ').map((code) => [code, reason])));
}

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
