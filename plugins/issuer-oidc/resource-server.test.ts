import { createHmac, generateKeyPairSync } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, exportJWK, SignJWT } from 'jose';
import { createVerifier } from '../../src/identity/verify/verifier.ts';
import { silentLogger } from '../../test/contract/host.ts';
import { newId, SightlineError } from '../../src/contract/core/index.ts';
import type { ExternalTokenClaims, Issuer, Principal } from '../../src/contract/issuer/index.ts';
import {
  exchange,
  listen,
  openStore,
  operator,
  recordingLogger,
  serveIssuer,
  testClock,
  tokenOf,
  type Clock,
  type TestStore,
} from '../../test/issuer/support.ts';
import type { Claims } from './claims.ts';
import { makeOidcIssuer, resource, secret, type Making } from './support/issuer.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';
import { tokenClaims } from './identity.ts';

const refused = { code: 'invalid_token' };
const userId = newId('usr');
const organizationId = newId('org');

let store: TestStore;
let provider: StandIn;
let clock: Clock;
let admitted: ExternalTokenClaims[];

beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());
beforeEach(async () => {
  provider = await startStandIn();
  clock = testClock();
  admitted = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await provider.stop();
});

function make(accessTokens?: object, changed: object = {}, making: Making = {}): Issuer {
  return makeOidcIssuer(
    store,
    {
      mode: 'resource-server',
      issuer: provider.issuer,
      clientId: 'sightline',
      clientSecret: secret,
      memberships: [{ organization: 'Acme', group: 'sre' }],
      ...(accessTokens === undefined ? {} : { accessTokens }),
      ...changed,
    },
    { clock, ...making },
  );
}

/** As the gateway verifies, with one account behind every identity that has a membership. */
function verifier(issuer: Issuer): (token: string) => Promise<Principal> {
  const verify = createVerifier({
    issuer,
    resource,
    directory: {
      liveKey: (key, secretId) => store.storage.directory.liveKey(key, secretId),
      liveGrant: async () => undefined,
      liveMember: async () => ({ email: 'alice@acme.com', role: 'member' }),
    },
    async admit(claims) {
      admitted.push(claims);
      if (claims.identity.memberships.length > 0) return { userId, organizationId };
      throw new SightlineError('forbidden', 'nobody here has this identity');
    },
    markUsed: () => {},
    now: clock.now,
    logger: silentLogger,
  });
  return async (token) => {
    const request = new IncomingMessage(new Socket());
    request.headers.authorization = `Bearer ${token}`;
    return verify(request);
  };
}

const good: Claims = { aud: resource, sub: 'alice', azp: 'claude', scope: 'openid telemetry:read', groups: ['sre'] };

describe("a provider's access token", () => {
  it('is taken for the person, with the scopes that it names', async () => {
    const principal = await verifier(make())(await provider.mint(good));
    expect(principal).toMatchObject({ kind: 'user', subject: userId, organizationId, clientId: 'claude' });
    expect([...principal.scopes]).toEqual(['telemetry:read']);
    expect(admitted[0]?.identity).toEqual({
      issuer: provider.issuer,
      subject: 'alice',
      memberships: [{ organization: 'Acme', role: 'member' }],
    });
  });

  it('is nobody’s where no rule maps the person', async () => {
    const verify = verifier(make());
    await expect(verify(await provider.mint({ ...good, groups: [] }))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(verify(await provider.mint({ ...good, groups: undefined }))).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it.each<[string, Claims]>([
    ['for another audience', { aud: 'https://other.example/mcp' }],
    ['for our audience with a slash', { aud: `${resource}/` }],
    ['for the client of the sign-in', { aud: 'sightline' }],
    ['for nobody', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that is over', { exp: 1 }],
    ['without an end', { exp: undefined }],
    ['without a client', { azp: undefined }],
    ['without scopes', { scope: undefined }],
    ['without a person', { sub: undefined }],
    ['that is an ID token', { at_hash: 'x' }],
    ['that is a logout token', { events: {} }],
    ['that Keycloak calls an ID token', { typ: 'ID' }],
    ['that Keycloak calls a refresh token', { typ: 'Refresh' }],
    ['that Cognito calls an ID token', { token_use: 'id' }],
    ['of a person that is a list', { sub: ['alice'] }],
  ])('is refused %s', async (_name, claims) => {
    await expect(verifier(make())(await provider.mint({ ...good, ...claims }))).rejects.toMatchObject(refused);
    expect(admitted).toEqual([]);
  });

  it.each(['oauth-id-jag+jwt', 'application/logout+jwt', 'SECEVENT+JWT', 'id+jwt'])(
    'is refused where its header says that it is something else: %s',
    async (typ) => {
      await expect(verifier(make())(await provider.mint(good, { typ }))).rejects.toMatchObject(refused);
      expect(admitted).toEqual([]);
    },
  );

  it.each(['JWT', 'at+jwt', 'application/AT+JWT', undefined])('may have the type %s', async (typ) => {
    await expect(
      verifier(make())(await provider.mint({ ...good, token_use: 'access' }, { typ })),
    ).resolves.toBeDefined();
  });

  it('is refused unsigned, signed with the public key as a secret, with our secret, or by a stranger', async () => {
    const verify = verifier(make());
    const token = await provider.mint(good);
    await verify(token);
    const payload = decodeJwt(token);
    const header = decodeProtectedHeader(token);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const published: unknown = await (await fetch(`${provider.origin}/jwks`)).json();
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = await exportJWK(stranger.publicKey);
    const unsigned = `${encode({ ...header, alg: 'none' })}.${encode(payload)}.`;
    const shared = [JSON.stringify(published), secret].map((key) => {
      const input = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
      return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
    });
    const strange = [header, { ...header, jwk }, { ...header, jku: 'https://evil.example/jwks' }].map((head) =>
      new SignJWT(payload).setProtectedHeader({ ...head, alg: 'RS256' }).sign(stranger.privateKey),
    );
    const weak = new SignJWT(payload).setProtectedHeader({ ...header, alg: 'RS512' }).sign(stranger.privateKey);
    for (const attack of [unsigned, ...shared, ...(await Promise.all([...strange, weak]))]) {
      await expect(verify(attack)).rejects.toMatchObject(refused);
    }
  });

  it('may be for audiences of the config, and then for no other', async () => {
    const verify = verifier(make({ audiences: ['api://sightline', 'second'] }));
    await expect(verify(await provider.mint({ ...good, aud: ['x', 'second'] }))).resolves.toBeDefined();
    await expect(verify(await provider.mint(good))).rejects.toMatchObject(refused);
  });

  it('has the scopes that the config makes of its scopes and of the person’s roles', async () => {
    const verify = verifier(
      make({
        scopes: { 'api.read': ['telemetry:read', 'incidents:read'] },
        rolesClaim: ['resource_access', 'sight.line', 'roles'],
        roles: { writer: ['chats:write'] },
      }),
    );
    const scopesOf = async (claims: Claims) => [...(await verify(await provider.mint({ ...good, ...claims }))).scopes];
    expect(await scopesOf({ scope: undefined, scp: ['api.read', 'offline_access'] })).toEqual([
      'telemetry:read',
      'incidents:read',
    ]);
    expect(await scopesOf({ scope: undefined, scp: 'chats:read api.read' })).toHaveLength(3);
    expect(await scopesOf({ scope: '', resource_access: { 'sight.line': { roles: ['writer'] } } })).toEqual([
      'chats:write',
    ]);
    expect(await scopesOf({ scope: 'constructor __proto__ toString admin', roles: ['writer'] })).toEqual([]);
  });

  it('is of the organization that it names, where the config says which claim does', async () => {
    const verify = verifier(make({ organization: 'org_name' }));
    await verify(await provider.mint({ ...good, org_name: 'Acme' }));
    expect(admitted[0]?.organization).toBe('Acme');
    await expect(verify(await provider.mint(good))).rejects.toMatchObject(refused);
    await expect(verify(await provider.mint({ ...good, org_name: ['Acme'] }))).rejects.toMatchObject(refused);
  });

  it.each<[string, Claims]>([
    ['names no client: azp, cid, appid, client_id', { azp: undefined }],
    ['has neither scope nor scp', { scope: undefined }],
    ['is an ID token or a logout token: it has at_hash', { at_hash: 'x' }],
    ['is no access token by its typ', { typ: 'Refresh' }],
    ['is no access token by its token_use', { token_use: 'id' }],
    ['is a refresh token', { token_type: 'refresh_token' }],
    ['names no person: sub', { sub: undefined }],
    ['names no organization: org_name', { org_name: undefined }],
  ])('is refused with the reason in the log at level debug: it %s', async (why, claims) => {
    const { logger, lines } = recordingLogger();
    const verify = verifier(make({ organization: 'org_name' }, {}, { logger }));
    await expect(verify(await provider.mint({ ...good, org_name: 'Acme', ...claims }))).rejects.toMatchObject(refused);
    expect(lines.join('\n')).toContain(`"refused":"it ${why}"`);
  });

  it.each<[string, Claims]>([
    ['azp', { azp: 'c' }],
    ['cid', { cid: 'c' }],
    ['appid', { appid: 'c' }],
    ['client_id', { client_id: 'c' }],
  ])('names its client by %s', (_name, claims) => {
    const identity = {
      issuer: 'https://idp.example',
      subject: ['sub'],
      email: ['email'],
      emailVerified: ['email_verified'],
      name: ['name'],
      trust: 'verified',
      memberships: [],
    } as const;
    expect(tokenClaims({ sub: 'a', scope: '', ...claims }, { identity, scopes: new Map() })?.clientId).toBe('c');
    expect(tokenClaims({ sub: 'a', scope: '' }, { identity, scopes: new Map() })).toBeUndefined();
  });

  it('follows a rotation of keys, once, however many forged keys are shown', async () => {
    const verify = verifier(make());
    await verify(await provider.mint(good));
    await provider.rotateKeys();
    const token = await provider.mint(good);
    await expect(verify(token)).rejects.toMatchObject(refused);
    const later = Date.now() + 31_000;
    jest.spyOn(Date, 'now').mockImplementation(() => later);
    await expect(verify(token)).resolves.toBeDefined();
    const [, body = '', signature = ''] = token.split('.');
    for (let index = 0; index < 20; index += 1) {
      const kid = Buffer.from(JSON.stringify({ alg: 'RS256', kid: `forged-${index}` })).toString('base64url');
      await expect(verify(`${kid}.${body}.${signature}`)).rejects.toMatchObject(refused);
    }
    expect(provider.count.keys).toBe(2);
  });

  it('is neither good nor bad while the provider is away, and good while its keys are known', async () => {
    const verify = verifier(make());
    const token = await provider.mint(good);
    const another = await provider.mint({ ...good, jti: '2' });
    await provider.pause();
    await expect(verify(token)).rejects.toMatchObject({ code: 'unavailable' });
    await provider.resume();
    clock.advance(6_000);
    await expect(verify(token)).resolves.toBeDefined();
    await provider.pause();
    await expect(verify(another)).resolves.toBeDefined();
  });

  it('is no reason to ask a provider that is down for its keys again and again', async () => {
    const verify = verifier(make());
    await verify(await provider.mint(good));
    provider.keysFail = true;
    const later = Date.now() + 31_000;
    jest.spyOn(Date, 'now').mockImplementation(() => later);
    const before = provider.count.keys;
    for (let index = 0; index < 20; index += 1) {
      const token = await provider.mint(good, { kid: `forged-${index}` });
      await expect(verify(token)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(provider.count.keys - before).toBe(1);
    provider.keysFail = false;
    clock.advance(6_000);
    await expect(verify(await provider.mint(good, { kid: 'forged' }))).rejects.toMatchObject(refused);
  });

  it('turns away whom the directory puts into too many groups, in words', async () => {
    const token = await provider.mint({ ...good, groups: undefined, _claim_names: { groups: 'src1' } });
    await expect(verifier(make())(token)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('more groups than fit'),
    });
  });
});

describe('an opaque token of a provider', () => {
  it('is what the provider says about it', async () => {
    const access = {
      active: true,
      aud: 'api',
      sub: 'alice',
      client_id: 'claude',
      scope: 'telemetry:read',
      groups: ['sre'],
      exp: Math.floor(Date.now() / 1_000) + 600,
    };
    provider.says.introspection = access;
    const endpoint = `${provider.origin}/introspect`;
    const issuer = make({ audiences: ['api'], introspection: { endpoint, clientId: 'a:b', clientSecret: 'p%q r' } });
    expect(issuer.introspection?.authorization).toBe(`Basic ${Buffer.from('a%3Ab:p%25q%20r').toString('base64')}`);
    expect(await verifier(issuer)('opaque')).toMatchObject({ subject: userId, clientId: 'claude' });
    // A provider knows its refresh tokens as well, and Hydra says so in the one word, WSO2 in the other.
    for (const use of [{ token_use: 'refresh_token' }, { token_type: 'refresh_token' }, { token_type: 'Refresh' }]) {
      provider.says.introspection = { ...access, ...use };
      await expect(verifier(issuer)('opaque')).rejects.toMatchObject(refused);
    }
    for (const use of [{ token_use: 'access_token' }, { token_type: 'Bearer' }, { token_type: 'access_token' }]) {
      provider.says.introspection = { ...access, ...use };
      await expect(verifier(issuer)('opaque')).resolves.toBeDefined();
    }
    provider.says.introspection = { active: false };
    await expect(verifier(issuer)('opaque')).rejects.toMatchObject(refused);
    await provider.pause();
    await expect(verifier(issuer)('opaque')).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('beside the provider', () => {
  it('API keys are exchanged here, and people are sent to the provider alone', async () => {
    const server = await listen();
    const issuer = makeOidcIssuer(
      store,
      { mode: 'resource-server', issuer: provider.issuer, clientId: 'sightline', clientSecret: secret },
      { authUrl: server.url, clock },
    );
    await issuer.start(AbortSignal.timeout(10_000));
    try {
      serveIssuer(server, issuer);
      const key = await store.keys.create({
        organizationId: store.organization.id,
        name: 'ci',
        scopes: ['telemetry:read'],
        actor: operator,
      });
      const token = await tokenOf(await exchange(server.url, key));
      expect(decodeJwt(token).iss).toBe(server.url);
      expect(issuer.trusts.map((trust) => trust.issuer)).toEqual([server.url, provider.issuer]);
      expect(issuer.authorizationServers).toEqual([provider.issuer]);
      expect(issuer.authorizationRequests).toBeUndefined();
    } finally {
      await issuer.stop();
      await server.close();
    }
  });
});
