import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Component } from '../core/component.ts';
import type { Finding } from '../telemetry/warehouse.ts';
import type { OrganizationId } from '../core/ids.ts';
import type { AuthorizationRequests } from './authorization.ts';
import type { Role, Scope } from './scopes.ts';
import type { SignIn } from './sign-in.ts';
import type { TokenIntrospection, TokenTrust } from './tokens.ts';

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
  /** For keys only: what an admin called it. */
  readonly name?: string;
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
  /** For `doctor`: asks what lies outside, such as an identity provider, and says what it asked and what to do. */
  look?(): Promise<readonly Finding[]>;
  /** What waits for a person's consent on our pages. Absent where people consent elsewhere. */
  readonly authorizationRequests?: AuthorizationRequests;
}
