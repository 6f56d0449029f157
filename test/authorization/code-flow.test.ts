import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { basic, everything } from '../issuer/support.ts';
import {
  authorize,
  authorizeUrl,
  Browser,
  desktop,
  form,
  locationOf,
  openWorld,
  pkce,
  redeem,
  refresh,
  refusal,
  signIn,
  tokensOf,
  website,
  withArtifacts,
  type World,
} from './support.ts';

describe('a person authorizes a client', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.stop());

  const grantOf = (token: string) => String(decodeJwt(token)['grant']);
  const isAlive = async (token: string) =>
    (await world.store.storage.workspace(world.organization.id).grants.list()).some(({ id }) => id === grantOf(token));

  it('from the browser to a token that says who, where and under which grant', async () => {
    const { callback, code, verifier } = await authorize(world);
    expect(callback.origin + callback.pathname).toBe(desktop.redirectUri);
    expect([...callback.searchParams.keys()].toSorted()).toEqual(['code', 'iss', 'state']);
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
    expect(world.servers[0]?.server.trust.claims(payload)).toEqual({
      kind: 'user',
      subject: world.user.id,
      organizationId: world.organization.id,
      scopes: everything,
      clientId: desktop.clientId,
      grantId: payload['grant'],
    });
    const { grants, audit } = world.store.storage.workspace(world.organization.id);
    expect((await grants.list(world.user.id)).find(({ id }) => id === payload['grant'])).toMatchObject({
      clientId: desktop.clientId,
      clientName: 'Desktop',
      redirectOrigin: 'http://127.0.0.1',
      scopes: everything,
    });
    expect((await audit.list({ limit: 10 })).find(({ event }) => event === 'grant.created')).toMatchObject({
      subject: world.user.id,
      target: payload['grant'],
      outcome: 'ok',
    });
  });

  it('on any port of a loopback address, since a program takes the one that is free', async () => {
    const redirect_uri = 'http://127.0.0.1:49152/callback';
    const authorized = await authorize(world, { redirect_uri });
    expect(authorized.callback.port).toBe('49152');
    expect((await redeem(world.url, authorized, { redirect_uri })).status).toBe(200);
  });

  it('with a secret, where the client has one', async () => {
    const params = { client_id: website.clientId, redirect_uri: website.redirectUri };
    const fields = { grant_type: 'authorization_code', redirect_uri: website.redirectUri };
    const post = ({ code, verifier }: { code: string; verifier: string }, secret: string) => {
      const init = form({ ...fields, code, code_verifier: verifier });
      const headers = { ...init.headers, authorization: basic(website.clientId, secret) };
      return fetch(`${world.url}/oauth2/token`, { ...init, headers });
    };
    const authorized = await authorize(world, params);
    expect(await refusal(await post(authorized, 'wrong'))).toEqual({ status: 401, error: 'invalid_client' });
    expect(await refusal(await redeem(world.url, authorized, params))).toEqual({
      status: 401,
      error: 'invalid_client',
    });
    expect(decodeJwt((await tokensOf(await post(authorized, website.clientSecret))).access_token)['client_id']).toBe(
      website.clientId,
    );
  });

  it('by any name of the endpoint, in either request, and for no other resource', async () => {
    const { port } = new URL(world.url);
    const names = [undefined, `${world.url}/mcp`, `${world.url}/mcp/`, world.url, `http://localhost:${port}/mcp`];
    for (const [index, resource] of names.entries()) {
      const other = names[(index + 1) % names.length];
      const authorized = await authorize(world, { resource });
      const response = await redeem(world.url, authorized, other === undefined ? {} : { resource: other });
      expect([resource, other, decodeJwt((await tokensOf(response)).access_token).aud]).toEqual([
        resource,
        other,
        `${world.url}/mcp`,
      ]);
    }
    for (const resource of ['https://elsewhere.example/mcp', `${world.url}/other`, `${world.url}/mcp#x`, 'mcp']) {
      const { challenge } = pkce();
      const answer = new URL(locationOf(await new Browser().get(authorizeUrl(world.url, challenge, { resource }))));
      expect([resource, answer.searchParams.get('error')]).toEqual([resource, 'invalid_target']);
      const authorized = await authorize(world);
      const refused = await refusal(await redeem(world.url, authorized, { resource }));
      expect([resource, refused]).toEqual([resource, { status: 400, error: 'invalid_target' }]);
    }
  });

  it('with the scopes that are ours; all where none of them is asked for', async () => {
    const cases: readonly [string | undefined, string][] = [
      [undefined, everything.join(' ')],
      ['', everything.join(' ')],
      ['openid email profile', everything.join(' ')],
      ['chats:read telemetry:read', 'telemetry:read chats:read'],
      ['openid chats:read offline_access CHATS:WRITE', 'chats:read'],
    ];
    for (const [scope, granted] of cases)
      expect([scope, (await signIn(world, { scope })).scope]).toEqual([scope, granted]);
  });

  it('with fewer scopes than asked for, if the person says so, and never with more', async () => {
    const tokens = await signIn(world, { scope: 'chats:read chats:write' }, { scopes: ['chats:read'] });
    expect(tokens.scope).toBe('chats:read');
    expect(decodeJwt(tokens.access_token)['scope']).toBe('chats:read');
    const { challenge } = pkce();
    const browser = new Browser();
    const page = locationOf(await browser.get(authorizeUrl(world.url, challenge, { scope: 'chats:read' })));
    for (const scopes of [['chats:read', 'chats:write'], ['telemetry:read'], []]) {
      const consent = { userId: world.user.id, organizationId: world.organization.id, scopes };
      expect((await browser.post(page, { consent })).status).toBe(400);
    }
  });

  it('in the organization they chose, which no request can change', async () => {
    const { directory } = world.store.storage;
    const other = await directory.createOrganization({ name: 'Other' });
    await world.store.storage.workspace(other.id).members.add(world.user.id, 'admin');
    const authorized = await authorize(world, {}, { organization: other });
    const claimed = {
      org: world.organization.id,
      x_org: world.organization.id,
      organization_id: world.organization.id,
    };
    const tokens = await tokensOf(await redeem(world.url, authorized, claimed));
    expect(decodeJwt(tokens.access_token)['org']).toBe(other.id);
    const renewed = await tokensOf(await refresh(world.url, tokens.refresh_token, claimed));
    expect(decodeJwt(renewed.access_token)['org']).toBe(other.id);
  });

  it('nobody can in an organization they are no member of', async () => {
    const stranger = await world.store.storage.directory.createOrganization({ name: 'Strangers' });
    await expect(authorize(world, {}, { organization: stranger })).rejects.toThrow();
    expect(await world.store.storage.workspace(stranger.id).grants.list()).toEqual([]);
  });

  describe('a code', () => {
    it('needs PKCE with S256', async () => {
      const { verifier, challenge } = pkce();
      const wrongs = [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge_method: undefined },
        { code_challenge: verifier, code_challenge_method: 'plain' },
        { code_challenge: undefined },
        { code_challenge: 'short' },
      ];
      for (const wrong of wrongs) {
        const response = await new Browser().get(authorizeUrl(world.url, challenge, wrong));
        const answer = new URL(locationOf(response));
        expect([wrong, answer.searchParams.get('error'), answer.searchParams.get('iss')]).toEqual([
          wrong,
          'invalid_request',
          world.url,
        ]);
      }
    });

    it('needs the verifier, the redirect URI and the client it was made with', async () => {
      const authorized = await authorize(world);
      const wrongs: readonly [Record<string, string>, number, string][] = [
        [{ code_verifier: '' }, 400, 'invalid_grant'],
        [{ code_verifier: pkce().verifier }, 400, 'invalid_grant'],
        [{ code_verifier: 'short' }, 400, 'invalid_request'],
        [{ redirect_uri: 'http://127.0.0.1/elsewhere' }, 400, 'invalid_grant'],
        [{ redirect_uri: 'http://127.0.0.1:1/callback' }, 400, 'invalid_grant'],
        [{ client_id: website.clientId, client_secret: website.clientSecret }, 400, 'invalid_grant'],
        [{ client_id: 'nobody' }, 401, 'invalid_client'],
        [{ code: `${authorized.code}x` }, 400, 'invalid_grant'],
      ];
      for (const [wrong, status, error] of wrongs) {
        const refused = await refusal(await redeem(world.url, authorized, wrong));
        expect([wrong, refused]).toEqual([wrong, { status, error }]);
      }
      // None of that has cost the client its code.
      expect((await redeem(world.url, authorized)).status).toBe(200);
    });

    it('shown again ends all that came of it, the access token too', async () => {
      const authorized = await authorize(world);
      const tokens = await tokensOf(await redeem(world.url, authorized));
      expect(await isAlive(tokens.access_token)).toBe(true);
      expect(await refusal(await redeem(world.url, authorized))).toEqual({ status: 400, error: 'invalid_grant' });
      expect(await isAlive(tokens.access_token)).toBe(false);
      expect(await refusal(await refresh(world.url, tokens.refresh_token))).toEqual({
        status: 400,
        error: 'invalid_grant',
      });
      const { audit } = world.store.storage.workspace(world.organization.id);
      const events = (await audit.list({ limit: 50 })).filter(({ target }) => target === grantOf(tokens.access_token));
      expect(events.filter(({ event }) => event === 'grant.revoked')).toMatchObject([{ subject: world.user.id }]);
    });

    it('is redeemed once, however many find it unused on two instances', async () => {
      const racers = 10;
      const { promise: allHaveRead, resolve } = Promise.withResolvers<void>();
      let reads = 0;
      let racing = false;
      const race = await openWorld({
        instances: 2,
        storage: (storage) =>
          withArtifacts(storage, (artifacts) => ({
            async find(model, id) {
              const found = await artifacts.find(model, id);
              if (racing && model === 'AuthorizationCode') {
                reads += 1;
                if (reads === racers) resolve();
                await allHaveRead;
              }
              return found;
            },
          })),
      });
      const authorized = await authorize(race);
      racing = true;
      const answers = await Promise.all(
        Array.from({ length: racers }, (_, index) => redeem(race.servers[index % 2]?.url ?? '', authorized)),
      );
      const good = answers.filter(({ status }) => status === 200);
      expect(good).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(racers - 1);
      // Nine copies of it were shown, so the one token is worth nothing either.
      expect(await race.store.storage.workspace(race.organization.id).grants.list()).toEqual([]);
      await race.stop();
    });

    it('lives for a minute', async () => {
      const authorized = await authorize(world);
      world.clock.advance(61_000);
      expect((await redeem(world.url, authorized)).status).toBe(400);
    });
  });
});
