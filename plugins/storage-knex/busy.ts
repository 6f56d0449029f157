import { SightlineError } from '../../src/contract/core/index.ts';

/** More asks for the storage than it can take. */
export function busy(cause?: unknown): SightlineError {
  return new SightlineError('unavailable', 'The storage has too much to do.', { retryAfterSeconds: 1, cause });
}
