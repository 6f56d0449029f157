import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { OrganizationId, SecretId } from './ids.ts';
import type { Component } from './plugin.ts';

/** What a token may do. Each tool asks for exactly one. */
export const scopes = ['telemetry:read', 'ingest:read', 'incidents:read', 'chats:read', 'chats:write'] as const;
export type Scope = (typeof scopes)[number];

export type Role = 'admin' | 'member';

/** Who is asking, after the token was verified and its key or account was found alive. Frozen. */
export interface Principal {
  readonly kind: 'key' | 'user';
  /** The key's `ak_…` or the person's `usr_…`: what a chat belongs to. */
  readonly subject: string;
  readonly organizationId: OrganizationId;
  readonly role: Role;
  readonly scopes: ReadonlySet<Scope>;
  /** The OAuth client: for a key its own id. */
  readonly clientId: string;
  /** For people only; what `waiting_on: "me"` is matched with. */
  readonly email?: string;
}

/** What an issuer reads out of a token that the core has verified. Never a verdict: the core looks the subject up. */
export interface TokenClaims {
  readonly kind: 'key' | 'user';
  readonly subject: string;
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
  readonly clientId: string;
  /** Which of a key's secrets minted the token, so that retiring it ends the token. */
  readonly secretId?: SecretId;
}

export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256';

/** Whose tokens the core believes. It checks signature, issuer, audience, expiry and algorithm by itself (jose). */
export interface TokenTrust {
  readonly issuer: string;
  readonly algorithms: readonly SigningAlgorithm[];
  readonly keys: JWTVerifyGetKey;
  /** The `typ` header our own tokens carry (RFC 9068: `at+jwt`). */
  readonly type?: string;
}

export interface Issuer extends Component {
  readonly trust: TokenTrust;
  /** Listed in the protected-resource metadata (RFC 9728). */
  readonly authorizationServers: readonly string[];
  claims(payload: JWTPayload): TokenClaims | undefined;
  /**
   * The issuer's own endpoints: answers true once it has taken the request. Absent where the issuer is elsewhere.
   * `address` is the caller's, as `trustProxy` says; without it the socket's is taken.
   */
  readonly handle?: (request: IncomingMessage, response: ServerResponse, address?: string) => boolean;
}
