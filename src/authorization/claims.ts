import type { JWTPayload } from 'jose';
import { isId, scopes as allScopes } from '../contract/index.ts';
import type { Scope, TokenClaims } from '../contract/index.ts';
import type { ProvenKey } from './exchange.ts';

/** What we say in a token about the key that minted it, beside the registered claims. */
export interface OwnClaims {
  readonly sub: string;
  readonly client_id: string;
  /** The organization's id. */
  readonly org: string;
  readonly kind: 'key';
  /** Which of the key's secrets was shown, so that retiring that secret ends the token. */
  readonly secret_id: string;
}

/** Everything is read from the key as it is stored: what a client says about itself has no part in it. */
export function claimsOfKey(key: ProvenKey): OwnClaims {
  return { sub: key.id, client_id: key.id, org: key.organizationId, kind: 'key', secret_id: key.secretId };
}

/** The way back, from a payload that the core has verified. Undefined for anything this issuer does not mint. */
export function tokenClaims(payload: JWTPayload): TokenClaims | undefined {
  const { sub, org, kind, client_id: clientId, secret_id: secretId, scope } = payload;
  if (kind !== 'key' || typeof sub !== 'string' || !isId('ak', sub) || clientId !== sub) return undefined;
  if (typeof org !== 'string' || !isId('org', org)) return undefined;
  if (typeof secretId !== 'string' || !isId('sec', secretId)) return undefined;
  if (typeof scope !== 'string') return undefined;
  return { kind, subject: sub, organizationId: org, scopes: knownScopes(scope), clientId: sub, secretId };
}

function knownScopes(text: string): readonly Scope[] {
  const named = new Set(text.split(' '));
  return allScopes.filter((scope) => named.has(scope));
}
