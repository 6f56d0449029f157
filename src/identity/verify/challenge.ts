import type { Scope } from '../../contract/issuer/index.ts';

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
  const write = (error: string | undefined, needed: readonly Scope[]): string => {
    const scope = names(needed).join(' ');
    return `Bearer ${[
      ...(error === undefined ? [] : [`error="${error}"`]),
      ...(scope === '' ? [] : [`scope="${scope}"`]),
      `resource_metadata="${resourceMetadataUrl}"`,
    ].join(', ')}`;
  };
  const missing = write(undefined, scopes);
  const invalid = write('invalid_token', scopes);
  return (kind: 'missing' | 'invalid_token' | 'insufficient_scope', scope?: Scope): string => {
    if (kind === 'missing') return missing;
    if (kind === 'invalid_token') return invalid;
    return write('insufficient_scope', scope === undefined ? scopes : [scope]);
  };
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
