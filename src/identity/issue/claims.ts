import type { JWTPayload } from 'jose';
import { isId, type GrantId, type OrganizationId, type UserId } from '../../contract/core/index.ts';
import type { KeyTokenClaims, TokenClaims, UserTokenClaims } from '../../contract/issuer/index.ts';
import type { ProvenKey } from './key-exchange.ts';
import { knownScopes } from './scopes.ts';

/** One account to the protocol library, so that nothing granted in one organization is ever found from another. */
export interface Account {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
}

export function accountId({ userId, organizationId }: Account): string {
  return `${userId}:${organizationId}`;
}

/** The way back; undefined for anything that `accountId` did not write. */
export function readAccountId(text: string): Account | undefined {
  const [userId = '', organizationId = '', ...rest] = text.split(':');
  if (rest.length > 0 || !isId('usr', userId) || !isId('org', organizationId)) return undefined;
  return { userId, organizationId };
}

/** From the stored key, never from what a client says. Retiring the secret of `secret_id` ends the token. */
export function claimsOfKey(key: ProvenKey) {
  return { sub: key.id, client_id: key.id, org: key.organizationId, kind: 'key', secret_id: key.secretId };
}

/** `client_id` and `scope` the library writes. Revoking the grant ends the token. */
export function claimsOfPerson({ userId, organizationId }: Account, grantId: GrantId) {
  return { sub: userId, org: organizationId, kind: 'user', grant: grantId };
}

/** The way back, from a payload that the core has verified. Undefined for anything this issuer does not mint. */
export function tokenClaims(payload: JWTPayload): TokenClaims | undefined {
  switch (payload['kind']) {
    case 'key':
      return keyClaims(payload);
    case 'user':
      return userClaims(payload);
    default:
      return undefined;
  }
}

function keyClaims(payload: JWTPayload): KeyTokenClaims | undefined {
  const { sub, org, client_id: clientId, secret_id: secretId, scope } = payload;
  if (typeof sub !== 'string' || !isId('ak', sub) || clientId !== sub) return undefined;
  if (typeof org !== 'string' || !isId('org', org)) return undefined;
  if (typeof secretId !== 'string' || !isId('sec', secretId)) return undefined;
  if (typeof scope !== 'string') return undefined;
  return { kind: 'key', subject: sub, organizationId: org, scopes: knownScopes(scope), clientId: sub, secretId };
}

function userClaims(payload: JWTPayload): UserTokenClaims | undefined {
  const { sub, org, client_id: clientId, grant, scope } = payload;
  if (typeof sub !== 'string' || !isId('usr', sub)) return undefined;
  if (typeof org !== 'string' || !isId('org', org)) return undefined;
  if (typeof grant !== 'string' || !isId('gra', grant)) return undefined;
  if (typeof clientId !== 'string' || clientId === '' || typeof scope !== 'string') return undefined;
  return { kind: 'user', subject: sub, organizationId: org, scopes: knownScopes(scope), clientId, grantId: grant };
}
