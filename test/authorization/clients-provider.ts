import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider';
import { clientSecretMatches, type Clients } from '../../src/identity/issue/clients/index.ts';
import { listen } from '../support/listen.ts';
import { rawRequest, type RawAnswer } from '../support/raw-http.ts';

export interface Authority {
  readonly provider: Provider;
  readonly issuer: string;
  /** Where the authorization endpoint sends a browser: to sign in, back with an error, or nowhere. */
  authorize(clientId: string, redirectUri: string): Promise<RawAnswer>;
  /** Redeems a code that nobody has: `invalid_grant` once the client has proven itself. */
  redeem(parameters: Record<string, string>, headers?: Record<string, string>): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** oidc-provider itself on these clients, with nothing of ours around it. */
export async function authority(clients: Clients): Promise<Authority> {
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const configuration = {
    adapter: (model: string) => (model === 'Client' ? { ...memory(), find: clients.find } : memory()),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    responseTypes: ['code'],
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    ttl: { Interaction: 60 },
    scopes: [],
    fetch: clients.fetch,
    cookies: { keys: ['of the test'] },
    features: { devInteractions: { enabled: false }, registration: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/consent/${uid}` },
    renderError: (ctx, out) => {
      ctx.body = out;
    },
  } satisfies Configuration;
  const provider = new Provider(issuer, configuration);
  provider.Client.prototype.compareClientSecret = async function compare(shown: string) {
    return clientSecretMatches(this, shown);
  };
  const callback = provider.callback();
  server.on('request', (request, response) => void callback(request, response));
  return {
    provider,
    issuer,
    authorize(clientId, redirectUri) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        state: 'state',
      });
      return rawRequest(`${issuer}/auth?${query.toString()}`, { method: 'GET', headers: { accept: 'text/html' } });
    },
    redeem: (parameters, headers = {}) =>
      rawRequest(`${issuer}/token`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: 'unknown',
          redirect_uri: 'https://client.example/callback',
          code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
          ...parameters,
        }).toString(),
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function memory(): Adapter {
  const kept = new Map<string, AdapterPayload>();
  return {
    upsert: async (id, payload) => void kept.set(id, payload),
    find: async (id) => kept.get(id),
    findByUid: async (uid) => [...kept.values()].find((payload) => payload.uid === uid),
    findByUserCode: async () => undefined,
    consume: async () => {},
    destroy: async (id) => void kept.delete(id),
    revokeByGrantId: async () => {},
  };
}
