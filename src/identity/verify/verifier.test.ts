import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, errors, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import type { Scope, TokenTrust } from '../../contract/issuer/index.ts';
import { SightlineError, isId, newId, type Logger } from '../../contract/core/index.ts';
import type { Directory, LiveKey, LiveMember } from '../../contract/storage/index.ts';
import { createVerifier } from './verifier.ts';

const issuerUrl = 'https://auth.example';
const resource = 'https://mcp.example/mcp';
const organizationId = newId('org');
const keyId = newId('ak');
const userId = newId('usr');
const secretId = newId('sec');
const grantId = newId('gra');
const start = Date.parse('2026-11-21T10:00:00Z');
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

const pair = await generateKeyPair('ES256');
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' };
const localKeys = createLocalJWKSet({ keys: [jwk] });

function carrying(authorization: string | undefined): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (authorization !== undefined) request.headers.authorization = authorization;
  return request;
}

interface World {
  now: number;
  lookUps: number;
  keySetCalls: number;
  keySetError: Error | undefined;
  directoryError: Error | undefined;
  key: LiveKey | undefined;
  member: LiveMember | undefined;
  used: string[];
  granted: readonly Scope[];
  readonly logged: unknown[];
}

function world(lookUps: Partial<Pick<Directory, 'liveKey'>> = {}) {
  const state: World = {
    now: start,
    lookUps: 0,
    keySetCalls: 0,
    keySetError: undefined,
    directoryError: undefined,
    key: { organizationId, name: 'nightly', scopes: ['telemetry:read', 'chats:read'] },
    member: { email: 'a@example.com', role: 'admin' },
    used: [],
    granted: ['telemetry:read'],
    logged: [],
  };
  const logger: Logger = { ...silent, debug: (fields) => state.logged.push(fields) };
  const trust: TokenTrust = {
    issuer: issuerUrl,
    algorithms: ['ES256'],
    type: 'at+jwt',
    keys: async (header, token) => {
      state.keySetCalls += 1;
      if (state.keySetError !== undefined) throw state.keySetError;
      return localKeys(header, token);
    },
    claims: ({ sub }) => {
      if (sub === undefined) return undefined;
      const common = { organizationId, scopes: ['telemetry:read', 'incidents:read'] } as const;
      if (isId('ak', sub)) return { kind: 'key', subject: sub, clientId: sub, secretId, ...common };
      if (isId('usr', sub)) return { kind: 'user', subject: sub, clientId: 'client', grantId, ...common };
      const identity = { issuer: issuerUrl, subject: sub, memberships: [] };
      return { kind: 'external', identity, clientId: 'client', scopes: common.scopes };
    },
  };
  const verify = createVerifier({
    issuer: { trusts: [trust] },
    resource,
    directory: {
      async liveKey(id, secret) {
        state.lookUps += 1;
        if (state.directoryError !== undefined) throw state.directoryError;
        return id === keyId && secret === secretId ? state.key : undefined;
      },
      async liveMember(id, organization) {
        return id === userId && organization === organizationId ? state.member : undefined;
      },
      async liveGrant(id) {
        return id === grantId && state.member
          ? { userId, organizationId, scopes: state.granted, ...state.member }
          : undefined;
      },
      ...lookUps,
    },
    async admit({ identity }) {
      if (identity.subject === 'known at the provider') return { userId, organizationId };
      throw new SightlineError('forbidden', 'nobody here has this identity');
    },
    markUsed: (claims) => {
      state.used.push(claims.kind === 'key' ? claims.subject : claims.grantId);
    },
    now: () => new Date(state.now),
    logger,
  });
  return { state, verify: async (token: string) => verify(carrying(`Bearer ${token}`)), request: verify };
}

const seconds = start / 1_000;
const good: JWTPayload = { iss: issuerUrl, aud: resource, sub: keyId, iat: seconds, exp: seconds + 3_600 };
const sign = (payload: JWTPayload, header: { readonly [name: string]: string } = {}, key = pair.privateKey) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt', ...header }).sign(key);

const refused = { name: 'SightlineError', code: 'invalid_token' };

describe('createVerifier', () => {
  it('makes a frozen principal of a good token: organization and key from both sides, scopes from their intersection', async () => {
    const { verify } = world();
    const principal = await verify(await sign(good));
    expect(principal).toEqual({
      kind: 'key',
      subject: keyId,
      organizationId,
      clientId: keyId,
      role: 'member',
      name: 'nightly',
      scopes: new Set<Scope>(['telemetry:read']),
    });
    expect(Object.isFrozen(principal)).toBe(true);
  });

  it('makes one of a person with the role and address of now', async () => {
    const { state, verify } = world();
    const token = await sign({ ...good, sub: userId });
    expect(await verify(token)).toMatchObject({ kind: 'user', role: 'admin', email: 'a@example.com' });
    expect((await verify(token)).scopes).toEqual(new Set(['telemetry:read']));
    expect(state.used).toEqual([grantId]);
    state.member = { email: 'a@example.com', role: 'member' };
    expect(await verify(token)).toMatchObject({ role: 'member' });
    state.member = undefined;
    await expect(verify(token)).rejects.toMatchObject(refused);
  });

  it.each<[string, JWTPayload, { readonly [name: string]: string }]>([
    ['another issuer', { ...good, iss: 'https://evil.example' }, {}],
    ['another audience', { ...good, aud: 'https://other.example/mcp' }, {}],
    ['the audience with a slash', { ...good, aud: `${resource}/` }, {}],
    ['the audience as a prefix', { ...good, aud: 'https://mcp.example' }, {}],
    ['no audience', { iss: issuerUrl, sub: keyId, exp: seconds + 10 }, {}],
    ['no expiry', { iss: issuerUrl, aud: resource, sub: keyId }, {}],
    ['an expiry in the past', { ...good, exp: seconds - 6 }, {}],
    ['a start in the future', { ...good, nbf: seconds + 60 }, {}],
    ['another type', good, { typ: 'JWT' }],
    ['an ID token', good, { typ: 'id+jwt' }],
    ['an unknown key', good, { kid: 'k2' }],
    ['no subject', { iss: issuerUrl, aud: resource, exp: seconds + 10 }, {}],
  ])('refuses a token with %s', async (_name, payload, header) => {
    const { verify, state } = world();
    await expect(verify(await sign(payload, header))).rejects.toMatchObject(refused);
    expect(state.lookUps).toBe(0);
  });

  it('tells the log what is wrong with a token, and nothing of whose it is', async () => {
    const { verify, state } = world();
    const token = await sign({ ...good, aud: 'https://other.example', email: 'ada@example.com' });
    await expect(verify(token)).rejects.toMatchObject(refused);
    expect(state.logged).toEqual([{ code: 'ERR_JWT_CLAIM_VALIDATION_FAILED', claim: 'aud' }]);
  });

  it('takes an audience among several, and one within the clock tolerance', async () => {
    const { verify } = world();
    await expect(
      verify(await sign({ ...good, aud: ['https://idp.example/userinfo', resource] })),
    ).resolves.toBeDefined();
    await expect(verify(await sign({ ...good, exp: seconds - 3 }))).resolves.toBeDefined();
  });

  it('refuses alg none, a public key used as an HMAC secret, another key and a changed payload', async () => {
    const { verify } = world();
    const stranger = await generateKeyPair('ES256');
    const rsa = await generateKeyPair('RS256');
    const token = await sign(good);
    const [header = '', , signature = ''] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...good, sub: 'ak_other' })).toString('base64url');
    const secret = new TextEncoder().encode(JSON.stringify(jwk));
    const attempts = [
      new UnsecuredJWT(good).encode(),
      await new SignJWT(good).setProtectedHeader({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' }).sign(secret),
      await new SignJWT(good).setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'at+jwt' }).sign(rsa.privateKey),
      await sign(good, {}, stranger.privateKey),
      `${header}.${forged}.${signature}`,
      `${header}.${forged}.`,
      token.slice(0, -4),
      'a.b.c',
      'opaque',
    ];
    for (const attempt of attempts) await expect(verify(attempt)).rejects.toMatchObject(refused);
  });

  it('refuses an algorithm that is not on the list, even where the key set gives a key for it', async () => {
    const rsa = await generateKeyPair('RS256');
    const secret = new TextEncoder().encode('a secret of thirty-two bytes long');
    const offered = { RS256: rsa.publicKey, HS256: secret } as const;
    const header = { kid: 'k1', typ: 'at+jwt' };
    const tokens = [
      await new SignJWT(good).setProtectedHeader({ alg: 'RS256', ...header }).sign(rsa.privateKey),
      await new SignJWT(good).setProtectedHeader({ alg: 'HS256', ...header }).sign(secret),
    ];
    const { state } = world();
    const verify = createVerifier({
      issuer: {
        trusts: [
          {
            issuer: issuerUrl,
            algorithms: ['ES256'],
            keys: async ({ alg }) => (alg === 'RS256' ? offered.RS256 : offered.HS256),
            claims: () => ({ kind: 'key', subject: keyId, organizationId, scopes: [], clientId: keyId, secretId }),
          },
        ],
      },
      resource,
      directory: {
        liveKey: async () => state.key,
        liveMember: async () => undefined,
        liveGrant: async () => undefined,
      },
      admit: () => Promise.reject(new Error('nobody is asked for')),
      markUsed: () => {},
      now: () => new Date(start),
      logger: silent,
    });
    for (const token of tokens) await expect(verify(carrying(`Bearer ${token}`))).rejects.toMatchObject(refused);
  });

  it('reads the Authorization header alone, and only as Bearer', async () => {
    const { request, state } = world();
    const token = await sign(good);
    const attempts = [
      undefined,
      token,
      `Basic ${token}`,
      `Bearer ${token} x`,
      `Bearer ${token},Bearer ${token}`,
      'Bearer ',
    ];
    for (const attempt of attempts) await expect(request(carrying(attempt))).rejects.toMatchObject(refused);
    expect(state.keySetCalls).toBe(0);
    await expect(request(carrying(`bearer  ${token}`))).resolves.toBeDefined();
  });

  it('verifies once and looks the key up each time', async () => {
    const { verify, state } = world();
    const token = await sign(good);
    await Promise.all([verify(token), verify(token), verify(token)]);
    await verify(token);
    expect([state.keySetCalls, state.lookUps]).toEqual([1, 4]);
  });

  it('answers with the same principal as long as the directory says the same, and follows what is new', async () => {
    let answer: LiveKey | undefined = { organizationId, name: 'nightly', scopes: ['telemetry:read'] };
    const { request } = world({ liveKey: async () => answer });
    const carried = carrying(`Bearer ${await sign(good)}`);
    const principal = await request(carried);
    expect(await request(carried)).toBe(principal);
    // Another one that says the same.
    answer = { organizationId, name: 'nightly', scopes: ['telemetry:read'] };
    expect(await request(carried)).toBe(principal);
    expect(await request(carried)).toBe(principal);
    answer = { organizationId, name: 'nightly', scopes: [] };
    expect(await request(carried)).toMatchObject({ scopes: new Set() });
    answer = undefined;
    await expect(request(carried)).rejects.toMatchObject(refused);
    await expect(request(carried)).rejects.toMatchObject(refused);
  });

  it('rejects, and does not throw, where the directory throws', async () => {
    const { request } = world({
      liveKey: () => {
        throw new Error('the storage is not open');
      },
    });
    const carried = carrying(`Bearer ${await sign(good)}`);
    for (const _ of [1, 2]) await expect(request(carried)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('verifies a token once however its header is written: else one would take the places of thousands', async () => {
    const { request, state } = world();
    const token = await sign(good);
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER   ', 'Bearer         '])
      await request(carrying(scheme + token));
    expect([state.keySetCalls, state.lookUps]).toEqual([1, 4]);
  });

  it('follows the key at once: narrowed, revoked, moved', async () => {
    const { verify, state } = world();
    const token = await sign(good);
    await verify(token);
    state.key = { organizationId, name: 'nightly', scopes: [] };
    expect((await verify(token)).scopes.size).toBe(0);
    state.key = { organizationId: newId('org'), name: 'nightly', scopes: ['telemetry:read'] };
    await expect(verify(token)).rejects.toMatchObject(refused);
    state.key = undefined;
    await expect(verify(token)).rejects.toMatchObject(refused);
  });

  it('takes a provider’s token for the account that stands behind it, and for nobody where there is none', async () => {
    const { verify, state } = world();
    const token = await sign({ ...good, sub: 'known at the provider' });
    const scopes = new Set<Scope>(['telemetry:read', 'incidents:read']);
    expect(await verify(token)).toMatchObject({ kind: 'user', subject: userId, role: 'admin', scopes });
    state.member = undefined;
    await expect(verify(token)).rejects.toMatchObject(refused);
    await expect(verify(await sign({ ...good, sub: 'a stranger' }))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('notes the use of a key once a minute for each token, and never of a key that is not alive', async () => {
    const { verify, state } = world();
    const token = await sign(good);
    await verify(token);
    await verify(token);
    expect(state.used).toEqual([keyId]);
    state.now += 61_000;
    await verify(token);
    expect(state.used).toEqual([keyId, keyId]);
    state.key = undefined;
    state.now += 61_000;
    await expect(verify(token)).rejects.toMatchObject(refused);
    expect(state.used).toHaveLength(2);
  });

  it('ends a cached token when it expires', async () => {
    const { verify, state } = world();
    const token = await sign({ ...good, exp: seconds + 30 });
    await verify(token);
    state.now += 34_000;
    await verify(token);
    state.now += 2_000;
    await expect(verify(token)).rejects.toMatchObject({ ...refused, message: 'The access token has expired.' });
  });

  it('verifies a cached token again after a minute, so that a withdrawn signing key ends it', async () => {
    const { verify, state } = world();
    const token = await sign(good);
    await verify(token);
    state.now += 61_000;
    state.keySetError = new errors.JWKSNoMatchingKey();
    await expect(verify(token)).rejects.toMatchObject(refused);
  });

  it.each([new TypeError('fetch failed'), new errors.JWKSTimeout(), new errors.JOSEError('Expected 200 OK')])(
    'says unavailable, not invalid, when the keys cannot be had: %s',
    async (error) => {
      const { verify, state } = world();
      state.keySetError = error;
      const token = await sign(good);
      await expect(verify(token)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5, cause: error });
      state.keySetError = undefined;
      await expect(verify(token)).resolves.toBeDefined();
    },
  );

  it('says unavailable when the directory cannot be asked, and lets nobody in', async () => {
    const { verify, state } = world();
    const token = await sign(good);
    await verify(token);
    state.directoryError = new Error('database is locked');
    await expect(verify(token)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The token cannot be checked now.',
    });
  });
});
