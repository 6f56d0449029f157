import { SightlineError } from '../../../src/contract/core/index.ts';
import { place } from './settings.ts';
import type { ServerSettings } from './settings.ts';

/** Codes with which a connection ends that was open. */
export const lostCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
]);

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

/** What the operating system or TLS said of a connection, in words for an operator. */
export function connectionTrouble(code: string): readonly [cause: string, hint?: string] | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return ['nothing listens there', 'Check that the server runs, and its host and port.'];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ["the host's name cannot be resolved", 'Check the host name and the name server.'];
    case 'ENOENT':
      return ['there is no such socket', 'Check the path given as host.'];
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return ['the host cannot be reached', 'Check the network.'];
    case 'ETIMEDOUT':
    case 'PROTOCOL_SEQUENCE_TIMEOUT':
      return ['the server does not answer', 'Check the network and the load of the server.'];
    case 'EACCES':
      return ['this user may not use the socket', 'Check its owner and mode.'];
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
    case 'PROTOCOL_CONNECTION_LOST':
      return ['the connection was lost', "Look at the server's log."];
    case 'CERT_HAS_EXPIRED':
      return ["the server's certificate has expired"];
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return ["the server's certificate is for another host"];
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return ["the server's certificate is of an authority that is not known", 'Give it as storage.ssl.ca.'];
    default:
      return undefined;
  }
}
