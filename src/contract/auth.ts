import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { AuthorizationRequests } from './authorization.ts';
import type { GrantId, KeyId, OrganizationId, SecretId, UserId } from './ids.ts';
import type { Component } from './plugin.ts';
import type { ExternalIdentity, SignIn } from './sign-in.ts';

/** What a token may do. Each tool asks for exactly one. */
export const scopes = ['telemetry:read', 'ingest:read', 'incidents:read', 'chats:read', 'chats:write'] as const;
export type Scope = (typeof scopes)[number];

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];

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

/** An issuer whose tokens the core believes. It checks signature, issuer, audience, expiry and algorithm by itself (jose). */
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

/** An issuer whose tokens only it can read: the core asks it about each (RFC 7662), by itself. */
export interface TokenIntrospection {
  readonly issuer: string;
  readonly endpoint: string;
  /** The Authorization header of the question. */
  readonly authorization: string;
  readonly audiences?: readonly string[];
  claims(answer: JWTPayload): TokenClaims | undefined;
}

export interface Issuer extends Component {
  /** Chosen by a token's `iss`, and only then checked. */
  readonly trusts: readonly [TokenTrust, ...TokenTrust[]];
  /** For tokens that are no JWT. */
  readonly introspection?: TokenIntrospection;
  /** Listed in the protected-resource metadata (RFC 9728). */
  readonly authorizationServers: readonly string[];
  /**
   * What a client has to ask those for, to get these scopes of ours: named in challenges and metadata. Absent where they are
   * called as here; none where scopes are not what decides there.
   */
  readonly scopeNames?: (scopes: readonly Scope[]) => readonly string[];
  /** How people prove on our own pages who they are. */
  readonly signIn: SignIn;
  /**
   * The issuer's own endpoints: answers true once it has taken the request. Absent where the issuer is elsewhere.
   * `address` is the caller's, as `trustProxy` says; without it the socket's is taken.
   */
  readonly handle?: (request: IncomingMessage, response: ServerResponse, address?: string) => boolean;
  /** What waits for a person's consent on our pages. Absent where people consent elsewhere. */
  readonly authorizationRequests?: AuthorizationRequests;
}
