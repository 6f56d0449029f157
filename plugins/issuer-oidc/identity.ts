import type { JWTPayload } from 'jose';
import { SightlineError } from '../../src/contract/core/index.ts';
import {
  type ExternalIdentity,
  scopes as allScopes,
  type ExternalTokenClaims,
  type Scope,
} from '../../src/contract/issuer/index.ts';
import {
  textAt,
  textsAt,
  type ClaimPath,
  type Claims,
  vouchedEmail,
  type EmailRules,
  membershipsOf,
  claimAt,
  judge,
  type MembershipRule,
} from './claims.ts';

export interface IdentityRules extends EmailRules {
  readonly issuer: string;
  readonly subject: ClaimPath;
  readonly name: ClaimPath;
  readonly memberships: readonly MembershipRule[];
  /** Google: the company's domains. Without it, any Google account reaches our callback. */
  readonly hostedDomains?: readonly string[];
}

/** OpenID Connect Core §2: at most 255 ASCII characters. */
const subjectPattern = /^[\x20-\x7e]{1,255}$/;
const maxNameLength = 100;
/** What is left of a letter of two units that was cut. */
const half = /[\uD800-\uDBFF]$/;

/**
 * Who the verified claims speak of; undefined where they do not say. Throws `forbidden` with a sentence for the person.
 * @param more of the same person, unsigned: what is signed goes before it.
 */
export function identityOf(signed: Claims, rules: IdentityRules, more: Claims = {}): ExternalIdentity | undefined {
  const claims = { ...more, ...signed };
  const subject = subjectOf(claims, rules);
  if (subject === undefined) return undefined;
  const { hostedDomains } = rules;
  if (hostedDomains !== undefined && !textsAt(claims, ['hd']).some((domain) => hostedDomains.includes(domain))) {
    throw new SightlineError('forbidden', "Sign in with your company's account: this one is not of its domain.");
  }
  const email = vouchedEmail(signed, more, rules);
  const name = textAt(claims, rules.name)?.replaceAll(/\p{C}/gu, '').trim().slice(0, maxNameLength).replace(half, '');
  return {
    issuer: rules.issuer,
    subject,
    ...(email === undefined ? {} : { email }),
    ...(name === undefined || name === '' ? {} : { name }),
    memberships: membershipsOf(claims, email, rules.memberships),
  };
}

function subjectOf(claims: Claims, rules: Pick<IdentityRules, 'subject'>): string | undefined {
  const subject = textAt(claims, rules.subject);
  return subject !== undefined && subjectPattern.test(subject) ? subject : undefined;
}

/** Claims that the rules read and that are not there, by name. */
export function absentClaims(claims: Claims, { memberships, email, emailVerified, trust }: IdentityRules): string[] {
  const paths = memberships.flatMap(({ emailDomains, groups, organization }) => [
    ...(emailDomains === undefined ? [] : trust === 'verified' ? [email, emailVerified] : [email]),
    ...(groups === undefined ? [] : [groups.claim]),
    ...(typeof organization === 'string' ? [] : [organization.claim]),
  ]);
  const absent = paths.filter((path) => claimAt(claims, path) === undefined);
  return [...new Set(absent.map((path) => path.join('.')))];
}

const mostNamed = 100;

/** For the log: which claims came, by name alone, and which rules hold. Values of claims may be about the person. */
export function factsOf(signed: Claims, rules: IdentityRules, more: Claims = {}): object {
  const claims = { ...more, ...signed };
  const email = vouchedEmail(signed, more, rules);
  const names = (of: Claims) => Object.keys(of).slice(0, mostNamed);
  return {
    claims: names(signed),
    userinfo: names(more),
    absent: absentClaims(claims, rules),
    vouched: email !== undefined,
    rules: rules.memberships.slice(0, mostNamed).map((rule) => {
      const { holds, why } = judge(claims, email, rule);
      return { organization: rule.organization, role: rule.role, holds, why };
    }),
  };
}

export interface TokenRules {
  readonly identity: IdentityRules;
  readonly organization?: ClaimPath;
  /** The provider's scopes, and ours that each stands for; our own names stand for themselves. */
  readonly scopes: ReadonlyMap<string, readonly Scope[]>;
  readonly roles?: { readonly claim: ClaimPath; readonly scopes: ReadonlyMap<string, readonly Scope[]> };
}

/** OpenID Connect, Okta, Entra ID v1 and RFC 9068 each call it by another name. */
const clientClaims: readonly ClaimPath[] = [['azp'], ['cid'], ['appid'], ['client_id']];
/** Only ID tokens (OpenID Connect Core §3.1.3.6) and logout tokens have these. */
const otherTokens: readonly string[] = ['at_hash', 'c_hash', 'events'];
/** What Keycloak calls its refresh, ID and logout tokens in a claim. */
const bearer = 'Bearer';
/** What Cognito and Hydra call access tokens among others. */
const accessUses = new Set<unknown>(['access', 'access_token']);

/** Undefined where `whyRefused` says why. */
export function tokenClaims(payload: JWTPayload, rules: TokenRules): ExternalTokenClaims | undefined {
  const clientId = clientOf(payload);
  const granted = scopeNames(payload);
  if (clientId === undefined || granted === undefined || whyRefused(payload, rules) !== undefined) return undefined;
  const identity = identityOf(payload, rules.identity);
  if (identity === undefined) return undefined;
  const absent = absentClaims(payload, rules.identity);
  const organization = rules.organization === undefined ? undefined : textAt(payload, rules.organization);
  return {
    kind: 'external',
    identity: absent.length === 0 ? identity : { ...identity, absent },
    ...(organization === undefined ? {} : { organization }),
    scopes: scopesOf(payload, granted, rules),
    clientId,
  };
}

/**
 * For the log, with names of claims alone: what keeps this from being an access token of a person for a client. Undefined for
 * one that is: ID tokens have the same keys, and may have the audience.
 */
export function whyRefused(payload: JWTPayload, { identity, organization }: TokenRules): string | undefined {
  if (clientOf(payload) === undefined) return `it names no client: ${clientClaims.flat().join(', ')}`;
  if (scopeNames(payload) === undefined) return 'it has neither scope nor scp';
  const other = otherTokens.find((name) => Object.hasOwn(payload, name));
  if (other !== undefined) return `it is an ID token or a logout token: it has ${other}`;
  if (typeof payload['typ'] === 'string' && payload['typ'] !== bearer) return 'it is no access token by its typ';
  if (Object.hasOwn(payload, 'token_use') && !accessUses.has(payload['token_use'])) {
    return 'it is no access token by its token_use';
  }
  // RFC 7662 says Bearer there; of a refresh token WSO2 says what it is.
  if (textAt(payload, ['token_type'])?.toLowerCase().startsWith('refresh') === true) return 'it is a refresh token';
  if (subjectOf(payload, identity) === undefined) return `it names no person: ${identity.subject.join('.')}`;
  // Named by the config, it must be there: the person's only organization would be a guess.
  if (organization !== undefined && textAt(payload, organization) === undefined) {
    return `it names no organization: ${organization.join('.')}`;
  }
  return undefined;
}

function clientOf(claims: Claims): string | undefined {
  for (const path of clientClaims) {
    const value = textAt(claims, path);
    if (value !== undefined) return value.length <= 300 ? value : undefined;
  }
  return undefined;
}

/** Of `scope` (RFC 9068, RFC 7662) or `scp` (Okta, Entra ID): one text with blanks between, or a list. */
function scopeNames(claims: Claims): readonly string[] | undefined {
  const name = ['scope', 'scp'].find((key) => Object.hasOwn(claims, key));
  if (name === undefined) return undefined;
  return textsAt(claims, [name])
    .flatMap((text) => text.split(' '))
    .filter((scope) => scope !== '');
}

function scopesOf(claims: Claims, granted: readonly string[], rules: TokenRules): readonly Scope[] {
  const { scopes, roles } = rules;
  const named = new Set<string>(granted);
  for (const name of granted) for (const scope of scopes.get(name) ?? []) named.add(scope);
  if (roles !== undefined) {
    for (const role of textsAt(claims, roles.claim)) for (const scope of roles.scopes.get(role) ?? []) named.add(scope);
  }
  return allScopes.filter((scope) => named.has(scope));
}
