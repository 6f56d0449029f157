import { SightlineError } from '../../src/contract/core/index.ts';
import { place, type ServerSettings } from './config.ts';

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

/** What the operating system or TLS said of a connection. */
export const connectionTrouble = reasons({
  ECONNREFUSED: ['nothing listens there', 'Check that the server runs, and its host and port.'],
  'ENOTFOUND EAI_AGAIN': ["the host's name cannot be resolved", 'Check the host name and the name server.'],
  ENOENT: ['there is no such socket', 'Check the path given as host.'],
  'EHOSTUNREACH ENETUNREACH': ['the host cannot be reached', 'Check the network.'],
  'ETIMEDOUT PROTOCOL_SEQUENCE_TIMEOUT': [
    'the server does not answer',
    'Check the network and the load of the server.',
  ],
  EACCES: ['this user may not use the socket', 'Check its owner and mode.'],
  'ECONNRESET EPIPE ECONNABORTED PROTOCOL_CONNECTION_LOST': ['the connection was lost', "Look at the server's log."],
  CERT_HAS_EXPIRED: ["the server's certificate has expired"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["the server's certificate is for another host"],
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    ["the server's certificate is of an authority that is not known", 'Give it as storage.ssl.ca.'],
});
