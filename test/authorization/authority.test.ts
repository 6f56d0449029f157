import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { newId } from '../../src/contract/core/index.ts';
import { testInternet, type Internet } from './clients-support.ts';
import { authorize, form, openWorld, redeem, refresh, refusal, tokensOf, type World } from './support.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What clients say of themselves is for showing. Authority comes from a key, or from a person's consent. */
describe('a client that describes itself', () => {
  let world: World;
  let net: Internet;
  let key: CryptoKey;
  const clientId = 'https://client.example/app.json';
  const redirectUri = 'https://client.example/callback';

  beforeAll(async () => {
    net = await testInternet();
    world = await openWorld({ network: net });
    const pair = await generateKeyPair('ES256', { extractable: true });
    key = pair.privateKey;
    const jwk = { ...(await exportJWK(pair.publicKey)), alg: 'ES256', use: 'sig', kid: 'own' };
    net.serve = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          client_id: clientId,
          client_name: 'Friendly',
          redirect_uris: [redirectUri],
          grant_types: [
            'authorization_code',
            'refresh_token',
            'client_credentials',
            'urn:ietf:params:oauth:grant-type:jwt-bearer',
          ],
          response_types: ['code'],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [jwk] },
          scope: 'telemetry:read',
          org: world.organization.id,
          x_org: world.organization.id,
          organization: world.organization.id,
          kind: 'key',
          sub: newId('ak'),
          secret_id: newId('sec'),
        }),
      );
    };
  });
  afterAll(async () => {
    await world.stop();
    await net.close();
  });

  const proof = (audience = world.url, lifetime = '1m') =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'own' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(audience)
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .setExpirationTime(lifetime)
      .sign(key);
  const proven = async (fields: Record<string, string>, assertion?: string) =>
    fetch(
      `${world.url}/oauth2/token`,
      form({ client_assertion_type: assertionType, client_assertion: assertion ?? (await proof()), ...fields }),
    );

  it('gets no token without a person, however it proves itself', async () => {
    for (const grant_type of ['client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer']) {
      const response = await proven({ grant_type, org: world.organization.id, assertion: await proof() });
      const refused = await refusal(response);
      expect([grant_type, refused.status]).toEqual([grant_type, 400]);
      expect(['invalid_request', 'unsupported_grant_type']).toContain(refused.error);
    }
    const { grants } = world.store.storage.workspace(world.organization.id);
    expect(await grants.list()).toEqual([]);
  });

  it('gets with a person what the person granted, where the person said', async () => {
    const other = await world.store.storage.directory.createOrganization({ name: 'Other' });
    await world.store.storage.workspace(other.id).members.add(world.user.id, 'member');
    const params = { client_id: clientId, redirect_uri: redirectUri, scope: 'chats:read' };
    const { code, verifier } = await authorize(world, params, { organization: other });
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
    const tokens = await tokensOf(await proven(fields));
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      sub: world.user.id,
      org: other.id,
      kind: 'user',
      client_id: clientId,
      scope: 'chats:read',
    });
    const renewed = await proven({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' });
    expect(decodeJwt((await tokensOf(renewed)).access_token)['org']).toBe(other.id);
    expect(await refusal(await refresh(world.url, tokens.refresh_token, { client_id: clientId }))).toEqual({
      status: 401,
      error: 'invalid_client',
    });
  });

  it('proves itself to us alone, once, and with its own key', async () => {
    const authorized = await authorize(world, { client_id: clientId, redirect_uri: redirectUri });
    const fields = {
      grant_type: 'authorization_code',
      code: authorized.code,
      code_verifier: authorized.verifier,
      redirect_uri: redirectUri,
    };
    const elsewhere = await proof('https://elsewhere.example');
    const foreign = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'own' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(world.url)
      .setJti('x')
      .setExpirationTime('1m')
      .sign((await generateKeyPair('ES256')).privateKey);
    for (const wrong of [elsewhere, foreign]) {
      expect(await refusal(await proven(fields, wrong))).toEqual({ status: 401, error: 'invalid_client' });
    }
    expect(
      await refusal(await redeem(world.url, authorized, { client_id: clientId, redirect_uri: redirectUri })),
    ).toEqual({ status: 401, error: 'invalid_client' });
    const good = await proof();
    const answers = await Promise.all(Array.from({ length: 5 }, () => proven({ ...fields, code: 'none' }, good)));
    // One of them got as far as the code.
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(4);
    expect((await proven(fields)).status).toBe(200);
  });

  it('proves itself by what soon is over, since each proof is remembered until then', async () => {
    const fields = { grant_type: 'refresh_token', refresh_token: 'none' };
    const refused = { status: 401, error: 'invalid_client' };
    expect(await refusal(await proven(fields, await proof(world.url, '59m')))).toEqual({
      status: 400,
      error: 'invalid_grant',
    });
    for (const lifetime of ['2h', '1000y']) {
      expect([lifetime, await refusal(await proven(fields, await proof(world.url, lifetime)))]).toEqual([
        lifetime,
        refused,
      ]);
    }
  });

  it('as one that registered itself is no different', async () => {
    const response = await fetch(`${world.url}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Friendly',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
        org: world.organization.id,
        scope: 'telemetry:read',
      }),
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
    const client: { client_id: string; client_secret: string } = JSON.parse(await response.text());
    const fields = { client_id: client.client_id, client_secret: client.client_secret };
    const asked = await fetch(`${world.url}/oauth2/token`, form({ ...fields, grant_type: 'client_credentials' }));
    expect((await refusal(asked)).status).toBe(400);
    const params = { client_id: client.client_id, redirect_uri: 'http://127.0.0.1:7777/callback' };
    const tokens = await tokensOf(await redeem(world.url, await authorize(world, params), { ...params, ...fields }));
    expect(decodeJwt(tokens.access_token)['client_id']).toBe(client.client_id);
    // It did not ask for refresh tokens.
    expect(tokens.refresh_token).toBeUndefined();
  });

  it('whose document is gone cannot begin, and its people are told', async () => {
    net.serve = (_request, response) => response.writeHead(404).end();
    const gone = 'https://client.example/gone.json';
    const query = new URLSearchParams({ client_id: gone, redirect_uri: redirectUri, response_type: 'code' });
    const answer = await fetch(`${world.url}/oauth2/authorize?${query.toString()}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([503, null]);
    const page = await answer.text();
    expect(page).toContain('tell an operator');
    expect(page).toContain('issuer.clients.metadataDocuments.pinned');
  });

  it('signs a person in where nothing outside can be reached: by registering, or known by the copy that is shipped', async () => {
    const closed = await openWorld({
      network: { ...net, resolve: async () => [] },
      metadataDocuments: {},
    });
    const callback = 'http://127.0.0.1:7777/callback';
    const metadata = await fetch(`${closed.url}/.well-known/oauth-authorization-server`);
    const promised: { registration_endpoint: string } = JSON.parse(await metadata.text());
    expect(promised).not.toHaveProperty('client_id_metadata_document_supported');
    const registered = await fetch(promised.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Codex', redirect_uris: [callback], token_endpoint_auth_method: 'none' }),
    });
    const { client_id: registeredId }: { client_id: string } = JSON.parse(await registered.text());
    for (const id of [registeredId, 'https://chatgpt.com/oauth/codex/client.json']) {
      const params = { client_id: id, redirect_uri: callback };
      const tokens = await tokensOf(await redeem(closed.url, await authorize(closed, params), params));
      expect(decodeJwt(tokens.access_token)['client_id']).toBe(id);
    }
    await closed.stop();
  });
});
