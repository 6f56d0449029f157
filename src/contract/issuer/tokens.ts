import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { GrantId, KeyId, OrganizationId, SecretId, UserId } from '../core/ids.ts';
import type { Scope } from './scopes.ts';
import type { ExternalIdentity } from './sign-in.ts';

/** What an issuer reads out of a token that the core has verified. Never a verdict: the core looks the subject up. */
export type TokenClaims = KeyTokenClaims | UserTokenClaims | ExternalTokenClaims;

/** Minted by our authorization server for an API key. */
export interface KeyTokenClaims {
  readonly kind: 'key';
  readonly subject: KeyId;
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
  readonly clientId: string;
  /** Which of the key's secrets minted the token, so that retiring it ends the token. */
  readonly secretId: SecretId;
}

/** Minted by our authorization server for a person who consented. */
export interface UserTokenClaims {
  readonly kind: 'user';
  readonly subject: UserId;
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
  readonly clientId: string;
  /** What the person granted to the client: revoking it ends the token. */
  readonly grantId: GrantId;
}

/** Minted by a company's identity provider. */
export interface ExternalTokenClaims {
  readonly kind: 'external';
  readonly identity: ExternalIdentity;
  /** Name or id; where the token names none, the person's only one is meant. */
  readonly organization?: string;
  readonly scopes: readonly Scope[];
  readonly clientId: string;
}

export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256';

/** An issuer whose JWTs the core verifies locally: signature, issuer, audience, expiry and algorithm (jose). */
export interface TokenTrust {
  readonly issuer: string;
  readonly algorithms: readonly SigningAlgorithm[];
  readonly keys: JWTVerifyGetKey;
  /** The `typ` header our own tokens carry (RFC 9068: `at+jwt`). */
  readonly type?: string;
  /** What `aud` may be, where a provider cannot be made to write the MCP endpoint there. Default: the MCP endpoint alone. */
  readonly audiences?: readonly string[];
  claims(payload: JWTPayload): TokenClaims | undefined;
}

/** An issuer of opaque tokens: the core asks it about each (RFC 7662 introspection). */
export interface TokenIntrospection {
  readonly issuer: string;
  readonly endpoint: string;
  /** The Authorization header of the question. */
  readonly authorization: string;
  readonly audiences?: readonly string[];
  claims(answer: JWTPayload): TokenClaims | undefined;
}
