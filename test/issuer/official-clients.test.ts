import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { auth, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import { auth as authV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider as ProviderV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { decodeJwt } from 'jose';
import { protectedResourceMetadata } from '../../src/identity/verify/challenge.ts';
import { silentLogger } from '../contract/host.ts';
import type { Issuer } from '../../src/contract/issuer/index.ts';
import { createSiteApp } from '../support/http-app.ts';
import {
  everything,
  listen,
  makeIssuer,
  openStore,
  operator,
  signal,
  type TestServer,
  type TestStore,
} from './support.ts';

/** From nothing but the address of the MCP endpoint: both documents are discovered, the pair goes by HTTP Basic. */
describe('the official MCP clients', () => {
  let store: TestStore;
  let server: TestServer;
  let issuer: Issuer;

  beforeAll(async () => {
    store = await openStore();
    server = await listen();
    issuer = makeIssuer(store, { authUrl: server.url });
    await issuer.start(signal());
    const resource = `${server.url}/mcp`;
    const app = createSiteApp({
      issuer,
      pages: (_request, _response, next) => next(),
      authUrl: server.url,
      resource,
      resourceMetadata: protectedResourceMetadata({
        resource,
        authorizationServers: issuer.authorizationServers,
        scopes: everything,
        name: 'Sightline',
      }),
      allowedHosts: [new URL(server.url).host],
      logger: silentLogger,
    });
    server.serve(app);
  });
  afterAll(async () => {
    await issuer.stop();
    await server.close();
    await store.close();
  });

  const scopes = ['telemetry:read', 'incidents:read'] as const;
  const credentials = async () => {
    const { clientId, clientSecret } = await store.keys.create({
      organizationId: store.organization.id,
      name: 'sdk',
      scopes,
      actor: operator,
    });
    return { clientId, clientSecret, expectedIssuer: server.url };
  };

  const check = async (token: string | undefined, clientId: string) => {
    if (token === undefined) throw new Error('the client has no token');
    expect(decodeJwt(token)).toMatchObject({ sub: clientId, aud: `${server.url}/mcp`, scope: scopes.join(' ') });
  };

  it('of the second generation get a token for a key that has some of the scopes', async () => {
    const pair = await credentials();
    const provider = new ClientCredentialsProvider(pair);
    expect(await auth(provider, { serverUrl: `${server.url}/mcp` })).toBe('AUTHORIZED');
    await check(provider.tokens()?.access_token, pair.clientId);
  });

  it('of the first generation, too', async () => {
    const pair = await credentials();
    const provider = new ProviderV1(pair);
    expect(await authV1(provider, { serverUrl: `${server.url}/mcp` })).toBe('AUTHORIZED');
    await check(provider.tokens()?.access_token, pair.clientId);
  });

  it('are told that a key is wrong, not that the server is', async () => {
    const pair = { ...(await credentials()), clientSecret: 'wrong' };
    // The client says on the console that it tries twice.
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
    await expect(auth(new ClientCredentialsProvider(pair), { serverUrl: `${server.url}/mcp` })).rejects.toThrow(
      /client authentication failed/,
    );
    warn.mockRestore();
  });
});
