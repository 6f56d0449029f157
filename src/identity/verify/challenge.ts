import type { IncomingMessage } from 'node:http';
import type { Scope } from '../../contract/issuer/index.ts';
import { isLoopback } from '../issue/scopes.ts';

interface ChallengeOptions {
  readonly resourceMetadataUrl: string;
  /** What a client should ask for when it has no token yet. */
  readonly scopes: readonly Scope[];
  /** As `Issuer.scopeNames`. */
  readonly names?: ScopeNames | undefined;
}

type ScopeNames = (scopes: readonly Scope[]) => readonly string[];

const asTheyAre: ScopeNames = (scopes) => scopes;

/** WWW-Authenticate (RFC 6750 §3, RFC 9728 §5.1): `insufficient_scope` names just the scope that the call needs. */
export function createChallenge(options: ChallengeOptions) {
  const { resourceMetadataUrl, scopes, names = asTheyAre } = options;
  if (!/^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/.test(resourceMetadataUrl)) {
    throw new Error('resourceMetadataUrl must be an absolute URL');
  }
  return (kind: 'missing' | 'invalid_token' | 'insufficient_scope', scope?: Scope, request?: AskedBy): string => {
    const needed = names(kind === 'insufficient_scope' && scope !== undefined ? [scope] : scopes).join(' ');
    return `Bearer ${[
      ...(kind === 'missing' ? [] : [`error="${kind}"`]),
      ...(needed === '' ? [] : [`scope="${needed}"`]),
      `resource_metadata="${asAsked(resourceMetadataUrl, request)}"`,
    ].join(', ')}`;
  };
}

type AskedBy = Pick<IncomingMessage, 'headers' | 'url'>;

/**
 * A URL of ours as a request spelled it: by another loopback name, with a slash at the end. Clients compare `resource` with the
 * URL that a person typed (RFC 9728 §3.3). The issuer keeps its one name, for theirs is compared letter by letter (RFC 8414 §3.3).
 */
export function asAsked(url: string, request: AskedBy | undefined): string {
  if (!request) return url;
  const asked = URL.parse(`http://${request.headers.host ?? ''}`);
  const ours = new URL(url);
  const byOtherName = asked && isLoopback(asked.hostname) && isLoopback(ours.hostname) && asked.port === ours.port;
  if (byOtherName) ours.hostname = asked.hostname;
  const slash = /^[^?]*\/mcp\/(?:\?|$)/.test(request.url ?? '') ? '/' : '';
  // Byte for byte where it can be.
  return `${byOtherName ? ours.href : url}${slash}`;
}

interface ProtectedResourceOptions extends Pick<ChallengeOptions, 'names'> {
  /** The MCP endpoint, byte for byte the audience of its tokens. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly Scope[];
  readonly name: string;
}

/** RFC 9728 §2. */
export function protectedResourceMetadata(options: ProtectedResourceOptions) {
  const { resource, authorizationServers, scopes, names = asTheyAre, name } = options;
  const asked = names(scopes);
  if (authorizationServers.length === 0) throw new Error('a protected resource needs an authorization server');
  return {
    resource,
    authorization_servers: authorizationServers,
    ...(asked.length > 0 && { scopes_supported: asked }),
    bearer_methods_supported: ['header'],
    resource_name: name,
  };
}

/** Paths the metadata is served at: with the resource's path inserted (RFC 9728 §3.1), which clients try first, and at the root. */
export function protectedResourcePaths(resource: string): readonly string[] {
  const { pathname } = new URL(resource);
  const root = '/.well-known/oauth-protected-resource';
  return pathname === '/' ? [root] : [`${root}${pathname}`, root];
}
