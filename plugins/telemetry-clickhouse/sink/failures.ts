import { SightlineError } from '../../../src/contract/core/index.ts';
import { EngineError } from '../client/engine-error.ts';

/** The engine's codes for rows that it can never store: unreadable values, and days of more partitions than a load may have. */
const refused = new Set([6, 25, 26, 27, 38, 41, 53, 72, 117, 130, 131, 190, 252, 321, 407, 467]);

/** What the receiver is told: whether it lies in the rows, in the space, or in the warehouse's state. */
export function loadFailure(error: unknown): SightlineError {
  if (error instanceof SightlineError && error.code === 'invalid_argument') return error;
  const cause = error instanceof SightlineError ? error.cause : error;
  const code = cause instanceof EngineError ? cause.code : undefined;
  if (code !== undefined && refused.has(code)) return badBatch(cause);
  if (code === 243) {
    return new SightlineError('telemetry_full', 'There is no space left for telemetry.', {
      hint: 'Whoever runs the warehouse must free disk space or shorten retention.',
      retryAfterSeconds: 60,
      cause,
    });
  }
  return new SightlineError('telemetry_unavailable', 'The telemetry could not be written.', {
    retryAfterSeconds: 5,
    cause,
  });
}

export function badBatch(cause: unknown): SightlineError {
  return new SightlineError('invalid_argument', 'The batch cannot be stored as it is.', { cause });
}
