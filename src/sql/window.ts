import { SightlineError } from '../contract/index.ts';
import type { QueryWindow } from './result.ts';

/** From inclusive, to exclusive; both optional. */
export interface TimeBounds {
  readonly start?: Date;
  readonly end?: Date;
}

/** The window a request asks for; undefined when it has neither bound. */
export function windowOf({ start, end }: TimeBounds = {}): QueryWindow | undefined {
  if (start === undefined && end === undefined) return undefined;
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }), source: 'argument' };
}

/** Throws invalid_argument for a window that holds nothing. */
export function checkWindow(window: QueryWindow | undefined): void {
  if (window?.start !== undefined && window.end !== undefined && window.start >= window.end) {
    throw new SightlineError('invalid_argument', 'start must be before end.', {
      hint: 'start is inclusive, end exclusive; leave end out for now.',
    });
  }
}
