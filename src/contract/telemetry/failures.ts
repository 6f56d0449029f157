import type { Stopped } from '../core/component.ts';
import { decodeBatch, type TelemetryBatch } from './batch-codec.ts';
import { SightlineError, type ErrorCode, type ErrorDetails } from '../core/errors.ts';

/** The caller's view of a failure, whatever the engine said. */
export interface Told extends Pick<ErrorDetails, 'hint' | 'retryAfterSeconds' | 'operatorMessage'> {
  readonly code: ErrorCode;
  readonly message: string;
}

export function sqlFailed(message: string, hint: string): Told {
  return { code: 'sql_failed', message, hint };
}

/** Over in a moment: the same query may be sent again. */
export function unavailable(message: string, hint?: string, retryAfterSeconds = 2): Told {
  return { code: 'telemetry_unavailable', message, ...(hint !== undefined && { hint }), retryAfterSeconds };
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

/** Told in the same words whatever the engine. */
export const commonFailures = {
  timedOut,
  cancelled,
  unevenUnion: sqlFailed(
    'The parts of a UNION, INTERSECT or EXCEPT have different numbers of columns.',
    'Select as many columns in each part, in the same order: NULL AS name for one that is missing.',
  ),
  unknown: sqlFailed('The engine could not run the statement.', 'Simplify the statement and try its parts.'),
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

export function notConnected(): SightlineError {
  return new SightlineError('telemetry_unavailable', 'The telemetry warehouse is not connected.', {
    retryAfterSeconds: 2,
  });
}

/** For an organization that the warehouse has no place for. @param why for the operator, a sentence. */
export function noTelemetry(why: string): SightlineError {
  return new SightlineError('forbidden', 'This organization has no telemetry in the warehouse.', {
    hint: 'The operator of the service can connect it.',
    operatorMessage: why,
  });
}

/** The account or URL of a tenant whose connection is its boundary. Throws for one that has none. */
export function connectionOf<Connection>(
  connections: Readonly<Record<string, Connection>>,
  tenant: string,
): Connection {
  const own = Object.hasOwn(connections, tenant) ? connections[tenant] : undefined;
  if (own === undefined)
    throw noTelemetry(`telemetry.connections has no entry for the tenant ${JSON.stringify(tenant)}.`);
  return own;
}

/** The batches of a load. Throws where the bytes are none. */
export function decodeBatches(batches: readonly Uint8Array[]): readonly TelemetryBatch[] {
  try {
    return batches.map((bytes) => decodeBatch(bytes));
  } catch (error) {
    throw told(commonFailures.badBatch, error);
  }
}

/** A name out of an engine's message, as ours show it. */
export function shownName(name: string): string {
  const plain = name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain;
}
