import { afterEach, describe, expect, it } from '@jest/globals';
import { createHousekeeping } from '../../src/identity/issue/upkeep.ts';
import { eventually } from '../contract/storage/stage.ts';
import { newId, toId } from '../../src/contract/core/index.ts';
import { decodeJwt } from 'jose';
import { basic, everything, exchange, operator, recordingLogger } from '../issuer/support.ts';
import {
  authorize,
  authorizeUrl,
  Browser,
  callbackOf,
  form,
  locationOf,
  openWorld,
  pkce,
  redeem,
  refresh,
  refusal,
  signIn,
  tokensOf,
  withArtifacts,
  type World,
  type WorldOptions,
} from './support.ts';

describe('an authorization server', () => {
  let world: World | undefined;
  const open = async (options: WorldOptions) => (world = await openWorld(options));
  afterEach(() => world?.stop());

  it('behind a proxy that ends TLS sets secure cookies and stays at its own name', async () => {
    const authUrl = 'https://gateway.example';
    const { url } = await open({ authUrl: () => authUrl });
    const response = await new Browser().get(authorizeUrl(url, pkce().challenge));
    expect(locationOf(response)).toMatch(/^https:\/\/gateway\.example\/consent\//);
    const cookies = response.headers.getSetCookie();
    expect(cookies).toHaveLength(4);
    for (const cookie of cookies) expect(cookie).toMatch(/^__Secure-sightline-authorization.*; secure; httponly$/);
  });

  it('below a path keeps to it, whether the proxy passes it on or cuts it off', async () => {
    const { url } = await open({ authUrl: (own) => `${own}/auth` });
    for (const base of [`${url}/auth`, url]) {
      const browser = new Browser();
      const { verifier, challenge } = pkce();
      const page = locationOf(await browser.get(authorizeUrl(base, challenge)));
      expect(page).toMatch(new RegExp(`^${url}/auth/consent/`));
      if (!world) throw new Error('it is open');
      const consent = { userId: world.user.id, organizationId: world.organization.id, scopes: everything };
      const decided = await browser.post(page, { consent });
      expect(locationOf(decided)).toMatch(new RegExp(`^${url}/auth/oauth2/authorize/`));
      const callback = await callbackOf(browser, decided);
      expect(callback.searchParams.get('iss')).toBe(`${url}/auth`);
      const code = callback.searchParams.get('code') ?? '';
      expect((await redeem(base, { code, verifier })).status).toBe(200);
    }
  });

  it('without people exchanges keys and nothing else', async () => {
    const { url, store } = await open({ people: false });
    const key = { organizationId: store.organization.id, name: 'k', scopes: everything, actor: operator };
    expect((await exchange(url, await store.keys.create(key))).status).toBe(200);
    const response = await fetch(authorizeUrl(url, pkce().challenge), { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 'unsupported_response_type' });
    for (const path of ['/oauth2/register', '/oauth2/revoke', `/oauth2/authorize/${'x'.repeat(43)}`]) {
      expect([path, (await fetch(`${url}${path}`, { method: 'POST' })).status]).toEqual([path, 404]);
    }
    for (const grant_type of ['authorization_code', 'refresh_token']) {
      const asked = await fetch(`${url}/oauth2/token`, form({ grant_type, client_id: 'desktop', code: 'x' }));
      expect([grant_type, asked.ok]).toEqual([grant_type, false]);
    }
    const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toEqual({
      issuer: url,
      token_endpoint: `${url}/oauth2/token`,
      jwks_uri: `${url}/oauth2/jwks`,
      authorization_endpoint: `${url}/oauth2/authorize`,
      scopes_supported: everything,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      response_modes_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
    });
  });

  it('lets one network begin so many authorizations at once, and more after a minute', async () => {
    const own = await open({});
    const target = authorizeUrl(own.url, pkce().challenge, { client_id: 'nobody' });
    const begin = () => fetch(target, { redirect: 'manual' });
    let refused: Response | undefined;
    for (let sent = 0; sent < 3_000 && !refused; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, begin));
      refused = answers.find(({ status }) => status === 429);
    }
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(await refused?.text()).toContain('Please wait a minute');
    own.clock.advance(60_000);
    expect((await begin()).status).toBe(400);
  });

  it('keeps keys and people’s clients apart: neither passes for the other', async () => {
    const { url, store } = await open({});
    const key = { organizationId: store.organization.id, name: 'k', scopes: everything, actor: operator };
    const pair = await store.keys.create(key);
    const page = await fetch(authorizeUrl(url, pkce().challenge, { client_id: pair.clientId }), { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    const asDesktop = await fetch(
      `${url}/oauth2/token`,
      form({ grant_type: 'client_credentials', client_id: 'desktop' }),
    );
    expect(await refusal(asDesktop)).toEqual({ status: 400, error: 'invalid_request' });
    const mixed = await fetch(`${url}/oauth2/token`, {
      ...form({ grant_type: 'client_credentials', client_id: 'desktop' }),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: basic(pair.clientId, pair.clientSecret),
      },
    });
    expect(await refusal(mixed)).toEqual({ status: 400, error: 'invalid_request' });
  });

  it('whose storage is out of reach says to come back, and takes nobody’s tokens away', async () => {
    let down = false;
    const { logger, lines } = recordingLogger();
    await open({
      logger,
      storage: (storage) =>
        withArtifacts(storage, () => (down ? { find: () => Promise.reject(new Error('SECRET-DSN')) } : {})),
    });
    if (!world) throw new Error('it is open');
    const tokens = await signIn(world);
    down = true;
    const response = await refresh(world.url, tokens.refresh_token);
    const text = await response.text();
    expect([response.status, text]).toEqual([503, expect.stringContaining('temporarily_unavailable')]);
    expect(text).not.toContain('SECRET-DSN');
    expect(lines.join('\n')).toContain('SECRET-DSN');
    down = false;
    expect((await refresh(world.url, tokens.refresh_token)).status).toBe(200);
  });

  it('goes on with what is under way when its signing key is replaced', async () => {
    const own = await open({});
    const before = await signIn(own);
    const authorized = await authorize(own);
    own.clock.advance(31 * 86_400_000);
    await own.servers[0]?.server.stop();
    await own.servers[0]?.server.start(AbortSignal.timeout(5_000));
    const renewed = await refresh(own.url, before.refresh_token);
    // The server is closed by `stop` only for its timers: the address still answers.
    expect(renewed.status).toBe(200);
    expect(authorized.code).not.toBe('');
  });

  it('removes what has expired, and grants that nobody can use any more', async () => {
    const own = await open({});
    const { storage } = own.store;
    const { grants } = storage.workspace(own.organization.id);
    const idle = await signIn(own);
    own.clock.advance(60 * 86_400_000);
    const used = await signIn(own);
    const housekeeping = createHousekeeping(storage, own.clock.now, recordingLogger().logger);
    const expired = { model: 'Test', id: newId('gra'), payload: '{}', expiresAt: own.clock.now() };
    await storage.directory.artifacts.upsert(expired);
    await housekeeping.run();
    expect(await storage.directory.artifacts.removeExpired(own.clock.now())).toBe(0);
    expect(await grants.list()).toHaveLength(2);
    own.clock.advance(32 * 86_400_000);
    await housekeeping.run();
    expect((await grants.list()).map(({ id }) => id)).toEqual([grantOf(used.access_token)]);
    expect((await refresh(own.url, idle.refresh_token)).status).toBe(400);
    const renewed = await tokensOf(await refresh(own.url, used.refresh_token));
    expect(grantOf(renewed.access_token)).toBe(grantOf(used.access_token));

    // Used all the time, one ends after a year.
    own.clock.advance(332 * 86_400_000);
    await grants.markUsed(grantOf(used.access_token), own.clock.now());
    await eventually(async () => (await grants.list())[0]?.lastUsedAt?.getTime() === own.clock.now().getTime());
    await housekeeping.run();
    expect(await grants.list()).toHaveLength(1);
    own.clock.advance(2 * 86_400_000);
    await housekeeping.run();
    expect(await grants.list()).toEqual([]);
  });
});

const grantOf = (token: string) => toId('gra', decodeJwt(token)['grant']);
