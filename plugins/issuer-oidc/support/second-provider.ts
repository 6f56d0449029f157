import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { listen } from '../../../test/issuer/support.ts';

export const secondClient = { id: 'sightline', secret: 'a secret that only two know 0123456789' } as const;

/** Another oidc-provider as the company's: certified, strict, and with the address behind its userinfo endpoint. */
export async function startSecondProvider(redirectUri: string) {
  const server = await listen();
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const provider = new Provider(server.url, {
    clients: [
      {
        client_id: secondClient.id,
        client_secret: secondClient.secret,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['for the test alone'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@acme.com`, email_verified: true, name: 'Alice' }),
    }),
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  });
  provider.on('server_error', () => {});

  /** The person says yes to all. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: 'alice' } });
      return;
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  const callback = provider.callback();
  server.serve((request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(request, response);
    else void callback(request, response);
  });
  return { issuer: server.url, close: () => server.close() };
}
