import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { SightlineError, toId } from '../../src/contract/core/index.ts';
import { type AssertionTrust, type Scope } from '../../src/contract/issuer/index.ts';
import { basic, recordingLogger } from '../issuer/support.ts';
import { desktop, form, openWorld, refusal, tokensOf, website, type World } from './support.ts';

const issuer = 'https://login.example';
const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

describe('a company’s assertion that a person may use a client', () => {
  let world: World;
  let key: CryptoKey;
  let down = false;
  let admitted = 0;
  const { logger, lines } = recordingLogger();

  beforeAll(async () => {
    const pair = await generateKeyPair('ES256');
    key = pair.privateKey;
    const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'idp' }] });
    const trust: AssertionTrust = {
      issuer,
      algorithms: ['ES256'],
      keys: async (header, token) => {
        if (down) throw new Error('SECRET-HOST is out of reach');
        return keys(header, token);
      },
      claims: ({ sub, scope, client_id }) => ({
        kind: 'external',
        identity: { issuer, subject: String(sub), memberships: [] },
        scopes: String(scope).split(' ').filter(isScope),
        clientId: String(client_id),
      }),
    };
    world = await openWorld({
      instances: 2,
      logger,
      assertions: [trust],
      admit: async ({ identity }) => {
        admitted += 1;
        if (identity.subject !== 'ada') throw new SightlineError('forbidden', 'You have no account here.');
        return { userId: world.user.id, organizationId: world.organization.id };
      },
    });
  });
  afterAll(() => world.stop());

  interface Made {
    readonly header?: Record<string, unknown>;
    readonly claims?: Record<string, unknown>;
    readonly by?: CryptoKey | Uint8Array;
    readonly lives?: number;
  }
  const assert = ({ header = {}, claims = {}, by = key, lives = 300 }: Made = {}) => {
    const now = Math.floor(world.clock.now().getTime() / 1000);
    const all = {
      iss: issuer,
      sub: 'ada',
      aud: world.url,
      resource: `${world.url}/mcp`,
      client_id: website.clientId,
      jti: crypto.randomUUID(),
      iat: now,
      exp: now + lives,
      scope: 'chats:read telemetry:read',
      ...claims,
    };
    return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
      .setProtectedHeader({ alg: 'ES256', kid: 'idp', typ: 'oauth-id-jag+jwt', ...header })
      .sign(by);
  };
  const show = (assertion: string, extra: Record<string, string> = {}, url = world.url) => {
    const init = form({ grant_type, assertion, ...extra });
    const authorization = basic(website.clientId, website.clientSecret);
    return fetch(`${url}/oauth2/token`, { ...init, headers: { ...init.headers, authorization } });
  };

  it('is announced', async () => {
    const metadata = await (await fetch(`${world.url}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({
      grant_types_supported: expect.arrayContaining([grant_type]),
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    });
  });

  it('becomes a token, with a grant that can be seen and revoked, and no refresh token', async () => {
    const tokens = await tokensOf(await show(await assert()));
    expect(tokens).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'telemetry:read chats:read',
    });
    const payload = decodeJwt(tokens.access_token);
    expect(payload).toMatchObject({
      sub: world.user.id,
      org: world.organization.id,
      kind: 'user',
      client_id: website.clientId,
      aud: `${world.url}/mcp`,
      scope: 'telemetry:read chats:read',
    });
    const grantId = toId('gra', payload['grant']);
    const { grants } = world.store.storage.workspace(world.organization.id);
    expect(await grants.list(world.user.id)).toMatchObject([
      { id: grantId, clientName: 'Website', redirectOrigin: issuer, scopes: ['telemetry:read', 'chats:read'] },
    ]);
    // Coming back each hour does not fill the person's list.
    expect(decodeJwt((await tokensOf(await show(await assert()))).access_token)['grant']).toBe(grantId);
    await grants.revoke(grantId);
    expect(await world.store.storage.directory.liveGrant(grantId)).toBeUndefined();
  });

  it('may name us in a list, alone', async () => {
    expect((await show(await assert({ claims: { aud: [world.url] } }))).status).toBe(200);
  });

  it('gives of its scopes those that are asked for', async () => {
    const scopeOf = async (asked: string, claims = {}) =>
      (await tokensOf(await show(await assert({ claims }), { scope: asked }))).scope;
    expect(await scopeOf('chats:read chats:write')).toBe('chats:read');
    expect(await scopeOf('openid')).toBe('telemetry:read chats:read');
    expect(await scopeOf('chats:read', { resource: [`${world.url}/mcp/`] })).toBe('chats:read');
    for (const [scope, asked] of [
      ['chats:read', 'chats:write'],
      ['', ''],
      ['openid', 'openid'],
    ] as const) {
      const refused = await refusal(await show(await assert({ claims: { scope } }), { scope: asked }));
      expect([scope, refused]).toEqual([scope, { status: 400, error: 'invalid_scope' }]);
    }
  });

  it('is taken once, of however many who show it at once', async () => {
    const assertion = await assert();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => show(assertion, {}, world.servers[index % 2]?.url)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    world.clock.advance(299_000);
    // Nor does it let in or back anybody on the way to its refusal.
    const before = admitted;
    expect(await refusal(await show(assertion))).toEqual({ status: 400, error: 'invalid_grant' });
    expect(admitted).toBe(before);
  });

  it('is refused where anything of it is not for us, for now or for this client', async () => {
    const stranger = (await generateKeyPair('ES256')).privateKey;
    const secret = new TextEncoder().encode('a shared secret of at least 32 bytes');
    const wrongs: readonly Made[] = [
      { by: stranger },
      { by: secret, header: { alg: 'HS256' } },
      { header: { typ: 'JWT' } },
      { header: { typ: undefined } },
      { header: { kid: 'other' } },
      { lives: -60 },
      { lives: 7_200 },
      ...[
        { iss: 'https://elsewhere.example' },
        { iss: undefined },
        { aud: 'https://elsewhere.example' },
        { aud: `${world.url}/mcp` },
        { aud: [world.url, 'https://elsewhere.example'] },
        { aud: [] },
        { aud: [world.url, world.url] },
        { aud: undefined },
        { resource: 'https://elsewhere.example/mcp' },
        { resource: [`${world.url}/mcp`, 'https://elsewhere.example/mcp'] },
        { resource: undefined },
        { client_id: desktop.clientId },
        { client_id: undefined },
        { sub: undefined },
        { sub: 'mallory' },
        { jti: undefined },
        { jti: '' },
        { exp: undefined },
        { iat: undefined },
        { iat: Math.floor(Date.now() / 1000) + 90_000 },
        { nbf: Math.floor(Date.now() / 1000) + 90_000 },
      ].map((claims) => ({ claims })),
    ];
    for (const wrong of wrongs) {
      const refused = await refusal(await show(await assert(wrong)));
      expect([wrong, refused]).toEqual([wrong, { status: 400, error: 'invalid_grant' }]);
    }
    const unsigned = `${Buffer.from('{"alg":"none","typ":"oauth-id-jag+jwt"}').toString('base64url')}.${(await assert()).split('.')[1]}.`;
    for (const text of [unsigned, 'nonsense', 'a.b.c']) {
      expect(await refusal(await show(text))).toEqual({ status: 400, error: 'invalid_grant' });
    }
    expect(await refusal(await show(''))).toEqual({ status: 400, error: 'invalid_request' });
    const elsewhere = await show(await assert(), { resource: 'https://elsewhere.example' });
    expect(await refusal(elsewhere)).toEqual({ status: 400, error: 'invalid_target' });
  });

  it('tells the log what is wrong with it, and nothing of whose it is', async () => {
    lines.length = 0;
    for (const claims of [{ exp: 1 }, { aud: 'https://elsewhere.example' }, { client_id: undefined }]) {
      await show(await assert({ claims: { ...claims, email: 'ada@example.com' } }));
    }
    expect(lines.filter((line) => line.startsWith('An ID-JAG was refused.'))).toHaveLength(3);
    expect(lines.join('\n')).toContain('ERR_JWT_EXPIRED');
    expect(lines.join('\n')).not.toContain('ada');
  });

  it('is taken from a client that proves itself', async () => {
    const assertion = await assert({ claims: { client_id: desktop.clientId } });
    const open = await fetch(`${world.url}/oauth2/token`, form({ grant_type, assertion, client_id: desktop.clientId }));
    expect(await refusal(open)).toEqual({ status: 400, error: 'invalid_request' });
    const init = form({ grant_type, assertion: await assert(), client_id: website.clientId, client_secret: 'wrong' });
    expect(await refusal(await fetch(`${world.url}/oauth2/token`, init))).toEqual({
      status: 401,
      error: 'invalid_client',
    });
  });

  it('tells the person’s client why nobody is let in', async () => {
    const response = await show(await assert({ claims: { sub: 'mallory' } }));
    expect(await response.json()).toEqual({ error: 'invalid_grant', error_description: 'You have no account here.' });
  });

  it('is good for another try while the provider’s keys are out of reach', async () => {
    const assertion = await assert();
    down = true;
    const response = await show(assertion);
    const text = await response.text();
    expect([response.status, text]).toEqual([503, expect.stringContaining('temporarily_unavailable')]);
    expect(text).not.toContain('SECRET-HOST');
    down = false;
    expect((await show(assertion)).status).toBe(200);
  });

  it('is nothing to a server that trusts nobody', async () => {
    const plain = await openWorld();
    expect(await refusal(await show(await assert(), {}, plain.url))).toEqual({
      status: 400,
      error: 'unsupported_grant_type',
    });
    await plain.stop();
  });
});

function isScope(text: string): text is Scope {
  return text.endsWith(':read') || text.endsWith(':write');
}
