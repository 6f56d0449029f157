import type { IncomingMessage } from 'node:http';
import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import {
  scopes,
  type ExternalTokenClaims,
  type Issuer,
  type KeyTokenClaims,
  type Principal,
  type Role,
  type Scope,
  type TokenClaims,
  type TokenTrust,
  type UserTokenClaims,
} from '../../contract/issuer/index.ts';
import { SightlineError, type IssuerHost, type Logger } from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import { createWorkQueue } from '../../limits/work-queue.ts';
import { keySecretPrefix } from './api-keys.ts';
import { isBearerToken, readBearer, createTokenCache, guardKeySet, KeysOutOfReach, readUnchecked } from './bearer.ts';
import { createIntrospection } from './introspection.ts';
import type { Admission } from '../people/people.ts';

/** A token's audience must be exactly `resource` (RFC 8707), trailing slash and all. */
interface VerifierOptions extends Pick<IssuerHost, 'resource' | 'now' | 'logger'> {
  readonly issuer: Pick<Issuer, 'trusts' | 'introspection'>;
  readonly directory: Pick<Directory, 'liveKey' | 'liveGrant' | 'liveMember'>;
  /** The account behind an identity provider's token. Rejects with `forbidden` where there is none and none may be made. */
  readonly admit: (claims: ExternalTokenClaims) => Promise<Admission>;
  /** Notes that a key's secret or a grant was used; called about once a minute for each token, and not waited for. */
  readonly markUsed: (claims: KeyTokenClaims | UserTokenClaims) => void;
}

/** Never throws. Rejects with `invalid_token`, or `unavailable` where nothing can be said. `about` is for the log. */
export type Verifier = (request: Pick<IncomingMessage, 'headers'>, about?: Identified) => Promise<Principal>;

interface Identified {
  readonly requestId: string;
}

/** A token's claims, with an external identity replaced by the account it stands for. */
type KnownClaims = KeyTokenClaims | UserTokenClaims | MemberClaims;

interface MemberClaims extends Pick<UserTokenClaims, 'subject' | 'organizationId' | 'scopes' | 'clientId'> {
  readonly kind: 'member';
}

interface Known {
  readonly claims: KnownClaims;
  /** The last principal made from these claims, used again while the live record says the same. */
  latest?: Latest;
}

interface Latest {
  readonly live: Live;
  readonly principal: Principal;
  /** Of the directory. The very same object again says the same again. */
  answer: object;
}

interface Live {
  readonly role: Role;
  /** Undefined where the token alone says what may be done. */
  readonly scopes?: readonly Scope[];
  readonly email?: string;
  readonly name?: string;
}

/** Checks of signatures, which strangers can ask for: 256 µs each. */
const signatureLimits = { atOnce: 64, mostWaiting: 1_024 };
const anybody = { lane: 'stranger', party: '' } as const;
const tokenRequired = 'a bearer token is required';
const clockToleranceSeconds = 5;
const retryAfterSeconds = 5;

/**
 * Verifies a JWT here, or asks its issuer about another token, and caches that; whether the key or account behind it
 * lives is looked up on every request, so that revoking takes effect on the next one.
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { issuer, resource, directory, admit, markUsed, now, logger } = options;
  const signatures = createWorkQueue({
    ...signatureLimits,
    full: () =>
      new SightlineError('unavailable', 'Too many access tokens are being checked at once.', { retryAfterSeconds: 1 }),
  });
  const cache = createTokenCache<Known>({ now: () => now().getTime() });
  const trusted = new Map(issuer.trusts.map((trust) => [trust.issuer, checksOf(trust, resource)]));

  const introspect =
    issuer.introspection &&
    createIntrospection({ introspection: issuer.introspection, resource, now, clockToleranceSeconds });

  async function verify(token: string, about?: Identified): Promise<{ value: Known; expiresAt: number }> {
    // Here and not with each request: what is known was looked at.
    if (!isBearerToken(token)) throw invalid(tokenRequired);
    if (token.startsWith(`${keySecretPrefix}_`)) {
      throw new SightlineError('invalid_token', 'This is the secret of an API key, not an access token.', {
        hint: 'Exchange it: POST grant_type=client_credentials with the client id and this secret to /oauth2/token. The token lives an hour.',
      });
    }
    const named = readUnchecked(token);
    if (named === undefined && introspect !== undefined) {
      const { claims, expiresAt } = await introspect(token);
      return { value: { claims: await known(claims) }, expiresAt };
    }
    const trust = trusted.get(named?.iss ?? '');
    if (trust === undefined) throw invalid('The access token is not valid.');
    const { payload, protectedHeader } = await signatures.run(anybody, () =>
      jwtVerify(token, trust.keys, { ...trust.checks, currentDate: now() }).catch((error: unknown) => {
        throw tokenError(error, logger, about?.requestId);
      }),
    );
    if (isOfAnotherKind(protectedHeader.typ)) throw invalid('The access token is not valid.');
    const claims = trust.claims(payload);
    if (claims === undefined || payload.exp === undefined)
      throw invalid('The access token lacks a claim, or is a token of another kind.');
    return { value: { claims: await known(claims) }, expiresAt: (payload.exp + clockToleranceSeconds) * 1_000 };
  }

  async function known(claims: TokenClaims): Promise<KnownClaims> {
    if (claims.kind !== 'external') return claims;
    const { userId, organizationId } = await admit(claims);
    return { kind: 'member', subject: userId, organizationId, scopes: claims.scopes, clientId: claims.clientId };
  }

  function identify(known: Known): Promise<Principal> {
    const { claims } = known;
    switch (claims.kind) {
      case 'member':
        return settle(
          known,
          () => directory.liveMember(claims.subject, claims.organizationId),
          (member) => member,
        );
      case 'user':
        return settle(
          known,
          () => directory.liveGrant(claims.grantId),
          (grant) =>
            grant.userId === claims.subject && grant.organizationId === claims.organizationId ? grant : undefined,
        );
      case 'key':
        return settle(
          known,
          () => directory.liveKey(claims.subject, claims.secretId),
          ({ organizationId, name, scopes }) =>
            organizationId === claims.organizationId ? { role: 'member', name, scopes } : undefined,
        );
    }
  }

  async function settle<Answer extends object>(
    known: Known,
    ask: () => Promise<Answer | undefined>,
    liveOf: (answer: Answer) => Live | undefined,
  ): Promise<Principal> {
    let answer: Answer | undefined;
    try {
      answer = await ask();
    } catch (error) {
      throw unanswered(error);
    }
    const { claims, latest } = known;
    if (answer !== undefined && latest?.answer === answer) return latest.principal;
    const live = answer && liveOf(answer);
    if (answer === undefined || live === undefined) {
      throw invalid('The key or account of this access token is no longer active.');
    }
    if (latest !== undefined && isSame(latest.live, live)) {
      latest.answer = answer;
      return latest.principal;
    }
    const principal = createPrincipal(claims, live);
    known.latest = { live, principal, answer };
    // Only here, which costs the other requests nothing: the cache forgets a token every minute.
    if (claims.kind !== 'member') markUsed(claims);
    return principal;
  }

  return (request, about) => {
    const token = readBearer(request);
    if (token === undefined) return Promise.reject(invalid(tokenRequired));
    const known = cache.get(token, () => verify(token, about));
    return known instanceof Promise ? known.then(identify) : identify(known);
  };
}

function unanswered(cause: unknown): SightlineError {
  return new SightlineError('unavailable', 'The token cannot be checked now.', { retryAfterSeconds, cause });
}

function isSame(one: Live, other: Live): boolean {
  if (one.role !== other.role || one.email !== other.email || one.name !== other.name) return false;
  const [some, others] = [one.scopes, other.scopes];
  if (some === others) return true;
  return some?.length === others?.length && some?.every((scope, index) => scope === others?.[index]) === true;
}

function createPrincipal(claims: KnownClaims, live: Live): Principal {
  const { kind, subject, organizationId, clientId } = claims;
  const granted = live.scopes;
  return Object.freeze({
    kind: kind === 'key' ? 'key' : 'user',
    subject,
    organizationId,
    clientId,
    role: live.role,
    scopes: setOf(granted === undefined ? claims.scopes : claims.scopes.filter((scope) => granted.includes(scope))),
    ...(live.email === undefined ? {} : { email: live.email }),
    ...(live.name === undefined ? {} : { name: live.name }),
  });
}

/** One for each choice, of which there are few: every token that is known has one. */
const scopeSets = new Map<string, ReadonlySet<Scope>>();

function setOf(chosen: readonly Scope[]): ReadonlySet<Scope> {
  const ordered = scopes.filter((scope) => chosen.includes(scope));
  const name = ordered.join(' ');
  let set = scopeSets.get(name);
  if (set === undefined) scopeSets.set(name, (set = new Set(ordered)));
  return set;
}

function checksOf(trust: TokenTrust, resource: string) {
  if (trust.algorithms.length === 0) throw new Error('the issuer trusts no algorithm');
  const checks = {
    issuer: trust.issuer,
    audience: trust.audiences === undefined ? resource : [...trust.audiences],
    algorithms: [...trust.algorithms],
    clockTolerance: clockToleranceSeconds,
    ...(trust.type === undefined ? {} : { typ: trust.type }),
  } satisfies JWTVerifyOptions;
  return { keys: guardKeySet(trust.keys), checks, claims: (payload: JWTPayload) => trust.claims(payload) };
}

/** Few providers write `at+jwt` (RFC 9068), but what calls itself another kind is one (RFC 8725 §3.11). */
function isOfAnotherKind(type: string | undefined): boolean {
  return type !== undefined && /\+jwt$/i.test(type) && !/^(application\/)?at\+jwt$/i.test(type);
}

function tokenError(error: unknown, logger: Logger, requestId: string | undefined): SightlineError {
  if (error instanceof KeysOutOfReach) return unanswered(error.cause);
  // Without the error, which holds all that the token says of the person.
  const code = error instanceof errors.JOSEError ? error.code : 'unknown';
  logger.debug(
    {
      code,
      ...(error instanceof errors.JWTClaimValidationFailed && { claim: error.claim }),
      ...(requestId !== undefined && { request_id: requestId }),
    },
    'access token refused',
  );
  if (error instanceof errors.JWTExpired) return invalid('The access token has expired.');
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud') {
    return invalid('The access token is for another audience.');
  }
  return invalid('The access token is not valid.');
}

function invalid(message: string): SightlineError {
  return new SightlineError('invalid_token', message);
}
