import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { everything } from '../issuer/support.ts';
import { authorize, desktop, openWorld, redeem, refresh, tokensOf, type World } from './support.ts';

describe('a person authorizes a client', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.stop());

  it('from the browser to a token that says who, where and under which grant', async () => {
    const { callback, code, verifier } = await authorize(world);
    expect(callback.origin + callback.pathname).toBe(desktop.redirectUri);
    expect(callback.searchParams.get('state')).toBe('the-state');
    expect(callback.searchParams.get('iss')).toBe(world.url);
    const response = await redeem(world.url, { code, verifier });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const tokens = await tokensOf(response);
    expect(tokens).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: everything.join(' '),
    });
    const jwks = createRemoteJWKSet(new URL(`${world.url}/oauth2/jwks`));
    const { payload } = await jwtVerify(tokens.access_token, jwks, {
      issuer: world.url,
      audience: `${world.url}/mcp`,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });
    expect(payload).toEqual({
      iss: world.url,
      aud: `${world.url}/mcp`,
      sub: world.user.id,
      org: world.organization.id,
      kind: 'user',
      grant: expect.stringMatching(/^gra_/),
      client_id: desktop.clientId,
      scope: everything.join(' '),
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 3600,
    });
    const grants = await world.store.storage.workspace(world.organization.id).grants.list(world.user.id);
    expect(grants.find(({ id }) => id === payload['grant'])).toMatchObject({
      clientId: desktop.clientId,
      clientName: 'Desktop',
      redirectOrigin: 'http://127.0.0.1',
      scopes: everything,
    });
    const renewed = await tokensOf(await refresh(world.url, tokens.refresh_token));
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    expect(decodeJwt(renewed.access_token)).toMatchObject({ grant: payload['grant'], org: world.organization.id });
  });
});
