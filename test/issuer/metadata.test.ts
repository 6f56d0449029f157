import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Issuer } from '../../src/contract/issuer/index.ts';
import {
  everything,
  exchange,
  listen,
  makeIssuer,
  openStore,
  operator,
  serveIssuer,
  signal,
  type TestServer,
  type TestStore,
} from './support.ts';

describe('the issuer’s documents', () => {
  let store: TestStore;
  let root: TestServer;
  let nested: TestServer;
  let issuers: readonly Issuer[];

  beforeAll(async () => {
    store = await openStore();
    root = await listen();
    nested = await listen();
    issuers = [
      makeIssuer(store, { authUrl: root.url }),
      makeIssuer(store, { authUrl: `${nested.url}/auth`, publicUrl: nested.url }),
    ];
    for (const [index, server] of [root, nested].entries()) {
      const issuer = issuers[index];
      if (!issuer) throw new Error('an issuer a server');
      await issuer.start(signal());
      serveIssuer(server, issuer);
    }
  });
  afterAll(async () => {
    for (const issuer of issuers) await issuer.stop();
    await root.close();
    await nested.close();
    await store.close();
  });

  const authentication = (endpoint: string) => ({
    [`${endpoint}_auth_methods_supported`]: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    [`${endpoint}_auth_signing_alg_values_supported`]: ['ES256', 'RS256', 'PS256', 'EdDSA'],
  });

  const read = async (url: string): Promise<unknown> => {
    const response = await fetch(url);
    if (response.status !== 200) return response.status;
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    return response.json();
  };

  it('name the issuer exactly, and promise what there is', async () => {
    const metadata = await read(`${root.url}/.well-known/oauth-authorization-server`);
    expect(metadata).toEqual({
      issuer: root.url,
      token_endpoint: `${root.url}/oauth2/token`,
      jwks_uri: `${root.url}/oauth2/jwks`,
      authorization_endpoint: `${root.url}/oauth2/authorize`,
      scopes_supported: everything,
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      registration_endpoint: `${root.url}/oauth2/register`,
      revocation_endpoint: `${root.url}/oauth2/revoke`,
      ...authentication('token_endpoint'),
      ...authentication('revocation_endpoint'),
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
    });
    expect(await read(`${root.url}/.well-known/openid-configuration`)).toEqual(metadata);
  });

  it('are found before and behind the path of an issuer that has one', async () => {
    const base = `${nested.url}/auth`;
    const places = [
      `${nested.url}/.well-known/oauth-authorization-server/auth`,
      `${nested.url}/.well-known/openid-configuration/auth`,
      `${base}/.well-known/oauth-authorization-server`,
      `${base}/.well-known/openid-configuration`,
      // Where a reverse proxy cuts the path off.
      `${nested.url}/.well-known/oauth-authorization-server`,
    ];
    for (const place of places) {
      expect([place, await read(place)]).toMatchObject([
        place,
        { issuer: base, token_endpoint: `${base}/oauth2/token`, jwks_uri: `${base}/oauth2/jwks` },
      ]);
    }
    expect(await read(`${base}/oauth2/jwks`)).toEqual(await read(`${nested.url}/oauth2/jwks`));
  });

  it('lead to a token endpoint that works', async () => {
    const pair = await store.keys.create({
      organizationId: store.organization.id,
      name: 'k',
      scopes: everything,
      actor: operator,
    });
    expect((await exchange(`${nested.url}/auth`, pair)).status).toBe(200);
    expect((await exchange(nested.url, pair)).status).toBe(200);
  });

  it('publish public keys only', async () => {
    expect(await read(`${root.url}/oauth2/jwks`)).toEqual({
      keys: Array.from({ length: 2 }, () => ({
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        use: 'sig',
        alg: 'ES256',
      })),
    });
  });

  it('are read by GET and HEAD, asked about by OPTIONS, and nothing else', async () => {
    const url = `${root.url}/.well-known/oauth-authorization-server`;
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await fetch(url, { method })).status).toBe(405);
  });

  it('are taken by exact path', async () => {
    for (const path of [
      '/OAuth2/Token',
      '/oauth2/token/',
      '//oauth2/token',
      '/oauth2/%74oken',
      '/oauth2',
      '/oauth2/jwks/x',
      '/x/oauth2/token',
    ]) {
      const response = await fetch(`${root.url}${path}`);
      expect([path, response.status, await response.text()]).toEqual([path, 404, 'elsewhere']);
    }
  });
});
