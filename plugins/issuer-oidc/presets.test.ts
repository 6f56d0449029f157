import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { scopes } from '../../src/contract/issuer/index.ts';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { loadPlugin } from '../../src/gateway/process/registry.ts';
import { openStore, type TestStore } from '../../test/issuer/support.ts';
import type { Claims } from './claims.ts';
import { comeBack } from './support/browser.ts';
import { makeOidcIssuer, redirectSignIn, redirectUri } from './support/issuer.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';

const folder = fileURLToPath(new URL('../../config/issuers/', import.meta.url));
const secrets = ['ENTRA', 'OKTA', 'AUTH0', 'KEYCLOAK', 'GOOGLE', 'OIDC'].map((name) => [
  `${name}_CLIENT_SECRET`,
  'secret',
]);

let store: TestStore;
let provider: StandIn | undefined;
beforeAll(async () => {
  store = await openStore();
});
afterEach(() => provider?.stop());
afterAll(() => store.close());

/** The issuer's section of a shipped file, as the gateway reads it. */
async function section(name: string): Promise<Record<string, unknown>> {
  const file = `${folder}${name}.yaml`;
  const { config } = await loadConfig({ file, cwd: folder, env: Object.fromEntries(secrets), overrides: {} });
  const { plugin, ...rest } = config.issuer;
  await loadPlugin('issuer', { plugin, ...rest }, file);
  return rest;
}

/** Of all that a file says only the provider's address is another. */
async function exampleAt(name: string, path: string) {
  const standIn = await startStandIn(path);
  provider = standIn;
  return { standIn, issuer: makeOidcIssuer(store, { ...(await section(name)), issuer: standIn.issuer }) };
}

const member = [{ organization: 'Acme', role: 'member' }];
const admin = [{ organization: 'Acme', role: 'admin' }];
const tenant = '11111111-2222-3333-4444-555555555555';
const api = '66666666-7777-8888-9999-000000000000';
const oid = '99999999-0000-1111-2222-333333333333';
const endpoint = 'https://mcp.example.com/mcp';

/** What each provider documents of its ID tokens. */
const idTokens: readonly [string, string, Claims, object][] = [
  [
    'entra',
    `/${tenant}/v2.0`,
    {
      ver: '2.0',
      tid: tenant,
      oid,
      sub: 'pairwise-of-the-client',
      name: 'Alice',
      email: 'alice@acme.com',
      xms_edov: true,
      preferred_username: 'admin@globex.com',
      roles: ['Sightline.Member', 'Sightline.Admin'],
    },
    { subject: oid, email: 'alice@acme.com', name: 'Alice', memberships: admin },
  ],
  [
    'okta',
    '',
    { sub: '00u1', ver: 1, idp: '00o1', groups: ['Everyone', 'sightline-admins'], preferred_username: 'a@acme.com' },
    { subject: '00u1', email: 'alice@acme.com', name: 'Alice', memberships: admin },
  ],
  [
    'auth0',
    '/',
    { sub: 'auth0|1', nickname: 'a', 'https://acme.com/roles': ['member'], email: 'a@acme.com', email_verified: false },
    { subject: 'auth0|1', memberships: member },
  ],
  [
    'keycloak',
    '/realms/acme',
    {
      sub: 'f:1:alice',
      typ: 'ID',
      azp: 'sightline',
      acr: '1',
      name: 'Alice',
      email: 'alice@acme.com',
      email_verified: true,
      realm_access: { roles: ['offline_access', 'sightline-member'] },
    },
    { subject: 'f:1:alice', email: 'alice@acme.com', name: 'Alice', memberships: member },
  ],
  [
    'google',
    '',
    {
      sub: '10769150350006150715113082367',
      azp: '1234567890-example.apps.googleusercontent.com',
      hd: 'acme.com',
      email: 'alice@acme.com',
      email_verified: true,
      name: 'Alice',
    },
    { subject: '10769150350006150715113082367', email: 'alice@acme.com', name: 'Alice', memberships: member },
  ],
  ['generic', '', { sub: 'alice' }, { subject: 'alice', email: 'alice@acme.com', name: 'Alice', memberships: member }],
];

describe('an example file of a broker', () => {
  it.each(idTokens)('signs people in at %s', async (name, path, claims, expected) => {
    const { standIn, issuer } = await exampleAt(name, path);
    standIn.says.idToken = claims;
    standIn.says.userinfo = { sub: claims['sub'], email: 'alice@acme.com', email_verified: true, name: 'Alice' };
    const signIn = redirectSignIn(issuer);
    const { url, state } = await signIn.begin(redirectUri);
    expect(new URL(url).searchParams.has('resource')).toBe(false);
    const identity = await signIn.finish(await comeBack(url, redirectUri), state);
    expect(identity).toEqual({ issuer: standIn.issuer, ...expected });
    expect(issuer.authorizationServers).toEqual(['http://127.0.0.1:8099']);
  });

  it('of Entra ID believes no address of a domain that the tenant does not own', async () => {
    const { standIn, issuer } = await exampleAt('entra', `/${tenant}/v2.0`);
    const signIn = redirectSignIn(issuer);
    for (const owned of [undefined, false, '0']) {
      standIn.says.idToken = {
        oid,
        email: 'ceo@globex.com',
        email_verified: true,
        upn: 'ceo@globex.com',
        xms_edov: owned,
      };
      const { url, state } = await signIn.begin(redirectUri);
      const identity = await signIn.finish(await comeBack(url, redirectUri), state);
      expect(identity).toEqual({ issuer: standIn.issuer, subject: oid, memberships: [] });
    }
  });

  it('of Google asks for the company, and takes nobody else', async () => {
    const { standIn, issuer } = await exampleAt('google', '');
    const signIn = redirectSignIn(issuer);
    for (const claims of [{}, { hd: 'evil.com' }]) {
      standIn.says.idToken = { sub: '1', email: 'mallory@acme.com', email_verified: true, ...claims };
      const { url, state } = await signIn.begin(redirectUri);
      expect(new URL(url).searchParams.get('hd')).toBe('acme.com');
      await expect(signIn.finish(await comeBack(url, redirectUri), state)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

/** What each provider documents of its access tokens. */
const accessTokens: readonly [string, string, string, Claims, object][] = [
  [
    'entra-resource-server',
    `/${tenant}/v2.0`,
    api,
    {
      aud: api,
      ver: '2.0',
      tid: tenant,
      oid,
      sub: 'pairwise-of-the-api',
      azp: 'claude',
      azpacr: '0',
      scp: 'Sightline.Read',
      roles: ['Sightline.Member'],
    },
    {
      identity: { subject: oid, memberships: member },
      scopes: ['telemetry:read', 'incidents:read', 'chats:read'],
      clientId: 'claude',
    },
  ],
  [
    'okta-resource-server',
    '/oauth2/default',
    'http://127.0.0.1:8099/mcp',
    {
      aud: 'http://127.0.0.1:8099/mcp',
      ver: 1,
      cid: '0oa2',
      uid: '00u1',
      sub: 'alice@acme.com',
      scp: ['openid', 'telemetry:read'],
      groups: ['engineering'],
    },
    { identity: { subject: '00u1', memberships: member }, scopes: ['telemetry:read'], clientId: '0oa2' },
  ],
  [
    'auth0-resource-server',
    '/',
    endpoint,
    {
      aud: [endpoint, 'https://acme.eu.auth0.com/userinfo'],
      sub: 'auth0|1',
      azp: 'cursor',
      scope: 'openid chats:read',
      org_id: 'org_1',
      org_name: 'acme',
      permissions: ['chats:write'],
    },
    {
      identity: { subject: 'auth0|1', memberships: [{ organization: 'acme', role: 'member' }] },
      organization: 'acme',
      scopes: ['chats:read'],
      clientId: 'cursor',
    },
  ],
  [
    'keycloak-resource-server',
    '/realms/acme',
    'http://127.0.0.1:8099/mcp',
    {
      aud: ['http://127.0.0.1:8099/mcp', 'account'],
      typ: 'Bearer',
      sub: 'f:1:alice',
      azp: 'vscode',
      acr: '1',
      scope: 'openid profile',
      realm_access: { roles: ['sightline-member'] },
    },
    {
      identity: { subject: 'f:1:alice', memberships: member },
      scopes: ['telemetry:read', 'incidents:read', 'chats:read', 'chats:write'],
      clientId: 'vscode',
    },
  ],
];

describe('an example file of a resource server', () => {
  it.each(accessTokens)('takes the tokens of %s', async (name, path, audience, claims, expected) => {
    const { standIn, issuer } = await exampleAt(name, path);
    const trust = issuer.trusts.find((candidate) => candidate.issuer === standIn.issuer);
    if (trust === undefined) throw new Error('the provider is to be trusted');
    expect(trust.audiences ?? ['http://127.0.0.1:8099/mcp']).toEqual([audience]);
    const { payload } = await jwtVerify(await standIn.mint(claims), trust.keys, { issuer: trust.issuer, audience });
    const { identity, ...rest } = { identity: {}, ...expected };
    expect(trust.claims(payload)).toEqual({
      kind: 'external',
      identity: { issuer: standIn.issuer, ...identity },
      ...rest,
    });
    expect(issuer.authorizationServers).toEqual([standIn.issuer]);
  });

  it.each([
    ['entra-resource-server', [`api://${api}/Sightline.Read`, `api://${api}/Sightline.Chat`]],
    ['keycloak-resource-server', []],
    ['okta-resource-server', [...scopes]],
  ])('has clients ask for scopes that %s knows', async (name, names) => {
    expect(makeOidcIssuer(store, await section(name)).scopeNames?.(scopes)).toEqual(names);
  });

  it('takes no ID token of Entra ID, whose audience may be the same, and no token of an application at Okta', async () => {
    const entra = await exampleAt('entra-resource-server', `/${tenant}/v2.0`);
    const idToken = { aud: api, ver: '2.0', oid, sub: 'x', nonce: 'n', roles: ['Sightline.Admin'] };
    expect(entra.issuer.trusts[1]?.claims(idToken)).toBeUndefined();
    await entra.standIn.stop();
    const okta = await exampleAt('okta-resource-server', '/oauth2/default');
    expect(okta.issuer.trusts[1]?.claims({ sub: '0oa2', cid: '0oa2', scp: ['telemetry:read'] })).toBeUndefined();
  });

  it('asks about opaque tokens where the file says so', async () => {
    const { issuer } = await exampleAt('generic-introspection', '');
    expect(issuer.introspection).toMatchObject({
      endpoint: 'https://login.example.com/oauth2/introspect',
      authorization: `Basic ${Buffer.from('sightline:secret').toString('base64')}`,
    });
  });
});

it('every example file is exercised, and in the guide', async () => {
  const exercised = [...idTokens, ...accessTokens].map(([name]) => `${name}.yaml`);
  expect((await readdir(folder)).toSorted()).toEqual([...exercised, 'generic-introspection.yaml'].toSorted());
  const guide = await readFile(new URL('../../docs/identity-providers.md', import.meta.url), 'utf8');
  for (const file of await readdir(folder)) expect(guide).toContain(`](../config/issuers/${file})`);
});

it('the providers’ own addresses are those that they write into their tokens', async () => {
  const issuerOf = async (name: string) => makeOidcIssuer(store, await section(name)).trusts.at(-1)?.issuer;
  expect(await issuerOf('entra-resource-server')).toBe(`https://login.microsoftonline.com/${tenant}/v2.0`);
  expect(await issuerOf('auth0-resource-server')).toBe('https://acme.eu.auth0.com/');
  expect(await issuerOf('okta-resource-server')).toBe('https://acme.okta.com/oauth2/default');
  expect(await issuerOf('keycloak-resource-server')).toBe('https://keycloak.example.com/realms/acme');
});
