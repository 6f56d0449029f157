import * as oidc from 'openid-client';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { Logger } from '../../src/contract/core/index.ts';
import { ProviderUnreachable } from './fetch.ts';
import { unreachable } from './provider.ts';

/** The provider itself is not well: error codes of OpenID Connect and RFC 6749 §4.1.2.1. */
const outages = new Set(['temporarily_unavailable', 'server_error']);

export function again(): SightlineError {
  return new SightlineError('forbidden', 'This sign-in has ended or was begun in another browser. Sign in again.');
}

/**
 * What became of a sign-in, in words for the person; for the operator a line in the log. The library's errors hold the
 * answers they speak of, with codes and tokens in them: none of them is passed on or logged.
 */
export function signInFailure(error: unknown, logger: Logger): SightlineError {
  if (error instanceof SightlineError) return error;
  if (error instanceof ProviderUnreachable) {
    logger.error({ reason: error.message }, 'The identity provider could not be reached during a sign-in.');
    return unreachable();
  }
  if (error instanceof oidc.AuthorizationResponseError) {
    const code = plainCode(error.error);
    logger.warn({ code }, 'The identity provider refused a sign-in.');
    if (outages.has(code)) return unreachable();
    return new SightlineError(
      'forbidden',
      'Your identity provider did not let you in. Sign in again, or ask its administrator.',
    );
  }
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') {
    logger.warn({ code: 'invalid_grant' }, 'The identity provider did not take the code of a sign-in.');
    return again();
  }
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError) {
    const code = error instanceof oidc.ResponseBodyError ? plainCode(error.error) : `status ${error.status}`;
    logger.error({ code }, 'The identity provider refused this service: check clientId and its credentials.');
    return new SightlineError(
      'unavailable',
      'Sign-in is not set up well: your identity provider refused this service.',
    );
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  logger.warn({ code, reason: error instanceof Error ? error.message : '' }, 'The answer to a sign-in was not valid.');
  return new SightlineError('forbidden', 'The answer of your identity provider was not valid. Sign in again.');
}

/** What stands in a URL may have been written by anybody. */
function plainCode(code: string): string {
  return /^[a-z_]{1,64}$/.test(code) ? code : 'unreadable';
}
