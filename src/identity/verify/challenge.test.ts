import { describe, expect, it } from '@jest/globals';
import { createChallenge, protectedResourceMetadata, protectedResourcePaths } from './challenge.ts';

const resourceMetadataUrl = 'https://mcp.example/.well-known/oauth-protected-resource/mcp';

describe('createChallenge', () => {
  const challenge = createChallenge({ resourceMetadataUrl, scopes: ['telemetry:read', 'chats:read'] });
  it.each([
    ['missing', undefined, `Bearer scope="telemetry:read chats:read", resource_metadata="${resourceMetadataUrl}"`],
    [
      'invalid_token',
      undefined,
      `Bearer error="invalid_token", scope="telemetry:read chats:read", resource_metadata="${resourceMetadataUrl}"`,
    ],
    [
      'insufficient_scope',
      'chats:write',
      `Bearer error="insufficient_scope", scope="chats:write", resource_metadata="${resourceMetadataUrl}"`,
    ],
  ] as const)('writes %s', (kind, scope, value) => {
    expect(challenge(kind, scope)).toBe(value);
  });

  it('says the scopes as the authorization server calls them, and nothing where it knows none', () => {
    const names = (asked: readonly string[]) =>
      asked.filter((scope) => scope !== 'ingest:read').map((scope) => `api://x/${scope}`);
    const renamed = createChallenge({ resourceMetadataUrl, scopes: ['telemetry:read', 'ingest:read'], names });
    expect(renamed('missing')).toContain('scope="api://x/telemetry:read", ');
    expect(renamed('insufficient_scope', 'chats:read')).toContain('scope="api://x/chats:read", ');
    expect(renamed('insufficient_scope', 'ingest:read')).not.toContain('scope=');
  });

  it('names its document as the request named us, where both names are of this machine', () => {
    const asked = (write: typeof challenge, host: string | undefined, url = '/mcp') =>
      write('missing', undefined, { url, headers: host === undefined ? {} : { host } });
    const at = (host: string) => `http://${host}/.well-known/oauth-protected-resource/mcp`;
    const local = createChallenge({ resourceMetadataUrl: at('127.0.0.1:8080'), scopes: [] });
    for (const host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'LOCALHOST:8080']) {
      expect(asked(local, host)).toBe(`Bearer resource_metadata="${at(host.toLowerCase())}"`);
    }
    for (const host of [
      undefined,
      '',
      'localhost',
      'localhost:81',
      'gateway.example:8080',
      'localhost:8080@x',
      'a b',
    ]) {
      expect(asked(local, host)).toBe(`Bearer resource_metadata="${at('127.0.0.1:8080')}"`);
    }
    expect(asked(challenge, 'localhost')).toContain(`"${resourceMetadataUrl}"`);
    expect(asked(challenge, 'mcp.example', '/mcp/?a=/')).toContain(`"${resourceMetadataUrl}/"`);
    expect(asked(challenge, 'mcp.example', '/mcp?a=/mcp/')).toContain(`"${resourceMetadataUrl}"`);
  });

  it.each(['', '/relative', 'https://a/"', 'https://a/\r\nSet-Cookie: a', 'https://a/\\'])(
    'refuses the URL %j',
    (url) => {
      expect(() => createChallenge({ resourceMetadataUrl: url, scopes: [] })).toThrow('absolute URL');
    },
  );
});

describe('protected resource metadata', () => {
  it('names the resource as it is and where to get a token', () => {
    const options = { resource: 'https://mcp.example/mcp', scopes: ['telemetry:read'], name: 'Sightline' } as const;
    expect(protectedResourceMetadata({ ...options, authorizationServers: ['https://auth.example'] })).toEqual({
      resource: 'https://mcp.example/mcp',
      authorization_servers: ['https://auth.example'],
      scopes_supported: ['telemetry:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Sightline',
    });
    const renamed = { ...options, authorizationServers: ['https://auth.example'], names: () => ['read'] };
    expect(protectedResourceMetadata(renamed).scopes_supported).toEqual(['read']);
    expect(protectedResourceMetadata({ ...renamed, names: () => [] })).not.toHaveProperty('scopes_supported');
    expect(() => protectedResourceMetadata({ ...options, authorizationServers: [] })).toThrow();
  });

  it('is served with the path inserted and at the root', () => {
    const root = '/.well-known/oauth-protected-resource';
    expect(protectedResourcePaths('https://a.example/base/mcp')).toEqual([`${root}/base/mcp`, root]);
    expect(protectedResourcePaths('https://a.example')).toEqual([root]);
  });
});
