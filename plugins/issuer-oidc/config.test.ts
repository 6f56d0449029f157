import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issuerHost } from '../../src/gateway/wiring/plugins.ts';
import { testHost } from '../../test/contract/host.ts';
import type { AuthorizationServerOptions } from '../../src/contract/issuer/index.ts';
import { openStore, type TestStore } from '../../test/issuer/support.ts';
import { configSchema } from './config.ts';
import { createIssuer } from './issuer.ts';
import { authUrl, resource, secret } from './support/issuer.ts';
import { recorded } from '../../test/support/recorded.ts';

const least = { issuer: 'https://idp.example', clientId: 'sightline', clientSecret: secret };
const server = { ...least, mode: 'resource-server' };
const entra = { preset: 'entra', tenant: '11111111-2222-3333-4444-555555555555', clientId: 'c', clientSecret: secret };
const google = { preset: 'google', hostedDomains: ['acme.com'], clientId: 'c', clientSecret: secret };

const problemsOf = (config: object) =>
  configSchema.safeParse(config).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('the config', () => {
  it.each<[string, object]>([
    ['the least', least],
    ['Entra ID', entra],
    ['Google', google],
    ['Entra ID of another cloud', { ...entra, issuer: `https://login.microsoftonline.us/${entra.tenant}/v2.0` }],
    ['Entra ID by its address alone', { ...least, issuer: `https://login.microsoftonline.com/${entra.tenant}/v2.0` }],
    ['http on this machine', { ...least, issuer: 'http://localhost:8080/realms/acme' }],
    ['flags as texts', { ...least, userinfo: 'false', enterpriseManaged: { enabled: 'true' } }],
    ['the keys of our own authorization server', { ...least, signingKeyDays: 7, clients: {} }],
  ])('may be %s', (_name, config) => {
    expect(problemsOf(config)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a typo', { ...least, clientSecert: 'x' }, 'clientSecert'],
    ['a typo in a rule', { ...least, memberships: [{ organisation: 'Acme', group: 'x' }] }, 'organisation'],
    ['no issuer', { clientId: 'c', clientSecret: secret }, 'issuer: the preset generic needs it'],
    ['an issuer that is no URL', { ...least, issuer: 'idp.example' }, 'issuer: must be an https URL'],
    ['an issuer over http', { ...least, issuer: 'http://idp.example' }, 'issuer: must be an https URL'],
    [
      'an issuer that looks like this machine',
      { ...least, issuer: 'http://localhost.evil.example' },
      'must be an https',
    ],
    ['an issuer with a login', { ...least, issuer: 'https://a:b@idp.example' }, 'issuer: must be an https URL'],
    ['no credentials', { ...least, clientSecret: undefined }, 'say either clientSecret or privateKey'],
    ['two credentials', { ...least, privateKey: 'x' }, 'say either clientSecret or privateKey'],
    ['scopes without openid', { ...least, scopes: ['email'] }, 'scopes: must hold openid'],
    ['a parameter of the protocol', { ...least, parameters: { redirect_uri: 'https://x' } }, 'parameters.redirect_uri'],
    ['a rule for everybody', { ...least, memberships: [{ organization: 'Acme' }] }, 'say who'],
    ['a rule for nothing', { ...least, memberships: [{ group: 'x' }] }, 'say either organization'],
    ['a rule with no group', { ...least, memberships: [{ organization: 'A', group: [] }] }, 'memberships.0.group'],
    ['a domain that is none', { ...least, memberships: [{ organization: 'A', emailDomain: '@acme' }] }, 'emailDomain'],
    ['a tenant of somebody else', { ...least, tenant: entra.tenant }, 'tenant: only the preset entra'],
    ['Entra ID of all tenants', { ...entra, tenant: 'common' }, 'tenant'],
    [
      'Entra ID of another tenant than is said',
      { ...entra, issuer: 'https://login.microsoftonline.com/common/v2.0' },
      'issuer: is not of the tenant',
    ],
    [
      'Entra ID of all tenants by its address',
      { ...least, issuer: 'https://login.microsoftonline.com/Organizations/v2.0' },
      'issuer: is of all tenants',
    ],
    ['Google by its address alone', { ...least, issuer: 'https://accounts.google.com' }, 'preset: must be google'],
    ['Entra ID without a tenant', { ...entra, tenant: undefined }, 'tenant: the preset entra needs it'],
    ['Google for everybody', { ...google, hostedDomains: undefined }, 'hostedDomains: the preset google needs it'],
    ["Google's access tokens", { ...google, mode: 'resource-server' }, 'use broker'],
    ['access tokens for a broker', { ...least, accessTokens: {} }, 'only mode resource-server has it'],
    ['assertions without a server', { ...server, enterpriseManaged: { enabled: true } }, 'only mode broker'],
    ['ID tokens as access tokens', { ...server, accessTokens: { audiences: ['sightline'] } }, 'must not hold clientId'],
    ['Entra ID without an audience', { ...entra, mode: 'resource-server' }, 'accessTokens.audiences'],
    ["Okta's own tokens", { ...server, preset: 'okta' }, 'name an authorization server'],
    ['roles from nowhere', { ...server, accessTokens: { roles: { a: ['chats:read'] } } }, 'rolesClaim'],
    ['scopes that are not ours', { ...server, accessTokens: { scopes: { a: ['admin'] } } }, 'accessTokens.scopes.a'],
    ['a question over http', { ...server, accessTokens: { introspection: { endpoint: 'http://x.example' } } }, 'https'],
  ])('may not be %s', (_name, config, problem) => {
    expect(problemsOf(config).join('\n')).toContain(problem);
  });
});

describe('the authorization server of ours', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openStore();
  });
  afterAll(() => store.close());

  /** What it is told to do. */
  function optionsFor(config: object): AuthorizationServerOptions {
    const host = issuerHost(
      testHost(store.directory, { authUrl, vault: store.vault }),
      recorded(store.storage),
      resource,
    );
    let given: AuthorizationServerOptions | undefined;
    createIssuer(configSchema.parse(config), {
      ...host,
      authorizationServer(options) {
        given = options;
        return host.authorizationServer(options);
      },
    });
    if (given === undefined) throw new Error('it was not made');
    return given;
  }

  it('authorizes people for a broker, and exchanges API keys alone beside a provider that does', () => {
    expect(optionsFor({ ...least, signingKeyDays: 7 })).toMatchObject({
      people: true,
      signingKeyDays: 7,
      assertions: [],
      clients: { registration: { enabled: true } },
    });
    expect(optionsFor(server)).toMatchObject({ people: false });
  });

  it('takes assertions where it is told to, of the provider or of another issuer', () => {
    const payload = { sub: 'alice', client_id: 'claude', groups: ['sre'] };
    const memberships = [{ organization: 'Acme', group: 'sre' }];
    const [own] = optionsFor({ ...least, memberships, enterpriseManaged: { enabled: true } }).assertions ?? [];
    expect(own?.issuer).toBe('https://idp.example');
    expect(own?.algorithms).toEqual(['RS256', 'PS256', 'ES256', 'EdDSA']);
    expect(own?.claims(payload)).toEqual({
      kind: 'external',
      identity: {
        issuer: 'https://idp.example',
        subject: 'alice',
        memberships: [{ organization: 'Acme', role: 'member' }],
        partial: true,
      },
      scopes: [],
      clientId: 'claude',
    });
    const enterpriseManaged = { enabled: true, issuer: 'https://other.example' };
    const [other] = optionsFor({ ...least, enterpriseManaged }).assertions ?? [];
    expect(other?.claims({ ...payload, scope: 'chats:read' })).toMatchObject({
      identity: { issuer: 'https://other.example' },
      scopes: ['chats:read'],
    });
    expect(other?.claims({ sub: 'alice' })).toBeUndefined();
  });

  it('is never its own identity provider', () => {
    const config = configSchema.parse({ ...least, issuer: authUrl });
    const host = issuerHost(
      testHost(store.directory, { authUrl, vault: store.vault }),
      recorded(store.storage),
      resource,
    );
    expect(() => createIssuer(config, host)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});
