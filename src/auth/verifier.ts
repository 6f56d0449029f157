import type { IncomingMessage } from 'node:http';
import { errors, jwtVerify } from 'jose';
import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import type { Issuer, Principal, Role, Scope, TokenClaims } from '../contract/auth.ts';
import { SightlineError } from '../contract/errors.ts';
import type { Logger } from '../contract/plugin.ts';
import type { Directory } from '../contract/storage.ts';
import { readBearer } from './bearer.ts';
import { createTokenCache } from './token-cache.ts';

export interface VerifierOptions {
  readonly issuer: Pick<Issuer, 'trust' | 'claims'>;
  /** The MCP endpoint. A token's audience must be exactly this (RFC 8707), trailing slash and all. */
  readonly resource: string;
  readonly directory: Pick<Directory, 'liveKey' | 'liveMember'>;
  /** Notes that a key's token was used; called about once a minute for each token, and not waited for. */
  readonly markUsed: (principal: Principal) => void;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Identifies the caller. Rejects with `invalid_token`, or with `unavailable` where nothing can be said about the token now. */
export type Verifier = (request: IncomingMessage) => Promise<Principal>;

interface Known {
  readonly claims: TokenClaims;
  /** The last principal made from these claims, used again while the live record says the same. */
  latest?: { readonly fingerprint: string; readonly principal: Principal };
}

interface Live {
  readonly role: Role;
  /** Undefined for people: their token alone says what they may do. */
  readonly scopes?: readonly Scope[];
  readonly email?: string;
}

const clockToleranceSeconds = 5;
const retryAfterSeconds = 5;

/**
 * Bearer verification. Signature, issuer, audience, expiry, algorithm and type are checked here and kept in a cache; whether the
 * key or account behind the token lives is looked up on every request, so that revoking takes effect on the next one.
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { issuer, resource, directory, markUsed, now, logger } = options;
  const { trust } = issuer;
  if (trust.algorithms.length === 0) throw new Error('the issuer trusts no algorithm');
  const cache = createTokenCache<Known>({ now: () => now().getTime() });
  const keys = guardKeySet(trust.keys);
  const checks = {
    issuer: trust.issuer,
    audience: resource,
    algorithms: [...trust.algorithms],
    clockTolerance: clockToleranceSeconds,
    ...(trust.type === undefined ? {} : { typ: trust.type }),
  } satisfies JWTVerifyOptions;

  async function verify(token: string): Promise<{ value: Known; expiresAt: number }> {
    const { payload } = await jwtVerify(token, keys, { ...checks, currentDate: now() }).catch((error: unknown) => {
      throw tokenError(error, logger);
    });
    const claims = issuer.claims(payload);
    if (claims === undefined || payload.exp === undefined) throw invalid('the access token lacks a claim');
    return { value: { claims }, expiresAt: (payload.exp + clockToleranceSeconds) * 1_000 };
  }

  async function lookUp(claims: TokenClaims): Promise<Live | undefined> {
    try {
      if (claims.kind === 'user') return await directory.liveMember(claims.subject, claims.organizationId);
      if (claims.secretId === undefined) return undefined;
      const key = await directory.liveKey(claims.subject, claims.secretId);
      if (key === undefined || key.organizationId !== claims.organizationId) return undefined;
      return { role: 'member', scopes: key.scopes };
    } catch (error) {
      throw new SightlineError('unavailable', 'the token cannot be checked now', { retryAfterSeconds, cause: error });
    }
  }

  return async (request) => {
    const token = readBearer(request);
    if (token === undefined) throw invalid('a bearer token is required');
    const known = await cache.get(token, () => verify(token));
    const live = await lookUp(known.claims);
    if (live === undefined) throw invalid('the key or account of this access token is no longer active');
    const fingerprint = `${live.role} ${live.email ?? ''} ${live.scopes?.join(' ') ?? '*'}`;
    if (known.latest?.fingerprint !== fingerprint) {
      known.latest = { fingerprint, principal: createPrincipal(known.claims, live) };
      // Only here, which costs the other requests nothing: the cache forgets a token every minute.
      if (live.scopes !== undefined) markUsed(known.latest.principal);
    }
    return known.latest.principal;
  };
}

function createPrincipal(claims: TokenClaims, live: Live): Principal {
  const { kind, subject, organizationId, clientId } = claims;
  const granted = live.scopes;
  return Object.freeze({
    kind,
    subject,
    organizationId,
    clientId,
    role: live.role,
    scopes: new Set(granted === undefined ? claims.scopes : claims.scopes.filter((scope) => granted.includes(scope))),
    ...(live.email === undefined ? {} : { email: live.email }),
  });
}

/** The set of keys could not be had: says nothing about the token. */
class KeySetOutage extends Error {
  constructor(cause: unknown) {
    super('the signing keys could not be fetched', { cause });
    this.name = 'KeySetOutage';
  }
}

/** Tells "there is no such key" from "the keys could not be asked for". */
function guardKeySet(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const aboutTheToken =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported;
      throw aboutTheToken ? error : new KeySetOutage(error);
    }
  };
}

function tokenError(error: unknown, logger: Logger): SightlineError {
  if (error instanceof KeySetOutage) {
    return new SightlineError('unavailable', 'the token cannot be checked now', {
      retryAfterSeconds,
      cause: error.cause,
    });
  }
  logger.debug({ err: error }, 'access token refused');
  if (error instanceof errors.JWTExpired) return invalid('the access token has expired');
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud') {
    return invalid('the access token is for another audience');
  }
  return invalid('the access token is not valid');
}

function invalid(message: string): SightlineError {
  return new SightlineError('invalid_token', message);
}
