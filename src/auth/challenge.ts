import type { Scope } from '../contract/auth.ts';

export interface ChallengeOptions {
  /** Where the protected-resource metadata is served. */
  readonly resourceMetadataUrl: string;
  /** What a client should ask for when it has no token yet. */
  readonly scopes: readonly Scope[];
}

export type ChallengeKind = 'missing' | 'invalid_token' | 'insufficient_scope';

/**
 * Makes WWW-Authenticate values (RFC 6750 §3, RFC 9728 §5.1). No `error` where no token was sent; `insufficient_scope` names
 * just the scope the call needs, which the client adds to those it has.
 */
export function createChallenge(options: ChallengeOptions): (kind: ChallengeKind, scope?: Scope) => string {
  const { resourceMetadataUrl, scopes } = options;
  if (!/^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/.test(resourceMetadataUrl)) {
    throw new Error('resourceMetadataUrl must be an absolute URL');
  }
  const all = scopes.join(' ');
  const write = (error: string | undefined, scope: string): string =>
    [
      ...(error === undefined ? [] : [`error="${error}"`]),
      `scope="${scope}"`,
      `resource_metadata="${resourceMetadataUrl}"`,
    ].join(', ');
  const missing = `Bearer ${write(undefined, all)}`;
  const invalid = `Bearer ${write('invalid_token', all)}`;
  return (kind, scope) => {
    if (kind === 'missing') return missing;
    if (kind === 'invalid_token') return invalid;
    return `Bearer ${write('insufficient_scope', scope ?? all)}`;
  };
}

/** RFC 9728 §2. */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly Scope[];
  readonly bearer_methods_supported: readonly ['header'];
  readonly resource_name: string;
}

export interface ProtectedResourceOptions {
  /** The MCP endpoint, byte for byte the audience of its tokens. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly Scope[];
  readonly name: string;
}

export function protectedResourceMetadata(options: ProtectedResourceOptions): ProtectedResourceMetadata {
  const { resource, authorizationServers, scopes, name } = options;
  if (authorizationServers.length === 0) throw new Error('a protected resource needs an authorization server');
  return {
    resource,
    authorization_servers: authorizationServers,
    scopes_supported: scopes,
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
