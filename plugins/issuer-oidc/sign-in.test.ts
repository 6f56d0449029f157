import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { decodeProtectedHeader, SignJWT } from 'jose';
import type { ExternalIdentity, RedirectSignIn } from '../../src/contract/issuer/index.ts';
import { openStore, recordingLogger, testClock, type Clock, type TestStore } from '../../test/issuer/support.ts';
import { comeBack } from './support/browser.ts';
import { makeOidcIssuer, redirectSignIn, redirectUri, secret } from './support/issuer.ts';
import { secondClient, startSecondProvider } from './support/second-provider.ts';
import { startStandIn, type StandIn } from './support/stand-in.ts';

const ended = { code: 'forbidden', message: expect.stringContaining('Sign in again') };
const away = { code: 'unavailable' };
const alice = { sub: 'alice', email: 'alice@acme.com', email_verified: true, name: 'Alice' };
const memberships = [{ organization: 'Acme', emailDomain: 'acme.com' }];

let store: TestStore;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

describe('signing in at a stand-in', () => {
  let provider: StandIn;
  let clock: Clock;
  let lines: string[];
  let signIn: () => RedirectSignIn;
  let begin: () => Promise<{ readonly url: string; readonly state: string }>;
  let finish: (callback: URL, state: string) => Promise<ExternalIdentity>;

  function make(changed: object = {}): void {
    const recording = recordingLogger();
    ({ lines } = recording);
    const config = {
      issuer: provider.issuer,
      clientId: 'sightline',
      clientSecret: secret,
      memberships,
      userinfo: false,
      ...changed,
    };
    const made = redirectSignIn(makeOidcIssuer(store, config, { clock, logger: recording.logger }));
    signIn = () => made;
    begin = () => made.begin(redirectUri);
    finish = (callback, state) => made.finish(callback, state);
  }

  async function wholeWay(): Promise<ExternalIdentity> {
    const { url, state } = await begin();
    return finish(await comeBack(url, redirectUri), state);
  }

  beforeEach(async () => {
    provider = await startStandIn();
    provider.says.idToken = alice;
    clock = testClock();
    make();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await provider.stop();
    const text = lines.join('\n');
    for (const hidden of [secret, 'secret-of-the-provider', 'eyJ']) expect(text).not.toContain(hidden);
  });

  it('says who the person is, and where they belong', async () => {
    expect(await wholeWay()).toEqual({
      issuer: provider.issuer,
      subject: 'alice',
      email: 'alice@acme.com',
      name: 'Alice',
      memberships: [{ organization: 'Acme', role: 'member' }],
    });
  });

  it('asks with PKCE, state and nonce, another each time, and for nothing else than sign-in', async () => {
    make({ parameters: { prompt: 'select_account' } });
    const one = new URL((await begin()).url).searchParams;
    const other = new URL((await begin()).url).searchParams;
    expect(Object.fromEntries(one)).toEqual({
      client_id: 'sightline',
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      prompt: 'select_account',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(one.get(name)).not.toBe(other.get(name));
  });

  it('proves who we are as the provider wants it: by header, by form, by a signed statement', async () => {
    await wholeWay();
    make({ clientAuthentication: 'client_secret_post' });
    await wholeWay();
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
      publicKeyEncoding: { format: 'pem', type: 'spki' },
    });
    make({ clientSecret: undefined, privateKey, privateKeyId: 'k1' });
    // The stand-in knows the client by its credentials, which it cannot read here.
    provider.says.idToken = { ...alice, aud: 'sightline' };
    await wholeWay();
    const [header, form, statement] = provider.tokenRequests;
    expect(header?.authorization).toMatch(/^Basic /);
    expect(form?.body).toMatchObject({ client_id: 'sightline', client_secret: secret });
    expect(statement?.body).not.toHaveProperty('client_secret');
    expect(decodeProtectedHeader(String(statement?.body['client_assertion']))).toEqual({ alg: 'ES256', kid: 'k1' });
  });

  it('refuses a key that is none, without a word of it', () => {
    expect(() => make({ clientSecret: undefined, privateKey: 'eyJ my key' })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.not.stringContaining('my key') }),
    );
  });

  it('reads userinfo where it is told to, and believes what is signed first', async () => {
    provider.says.idToken = { sub: 'johndoe', name: 'Signed' };
    provider.says.userinfo = { email: 'john@acme.com', email_verified: true, name: 'Unsigned' };
    expect(await wholeWay()).toMatchObject({ name: 'Signed', memberships: [] });
    make({ userinfo: true });
    expect(await wholeWay()).toMatchObject({ name: 'Signed', email: 'john@acme.com' });
    provider.says.userinfo = { sub: 'somebody else', email: 'admin@acme.com', email_verified: true };
    await expect(wholeWay()).rejects.toMatchObject(ended);
  });

  it('does not take the word of userinfo about another address for the one that is signed', async () => {
    make({ userinfo: true });
    const vouched = async (idToken: object, userinfo: object) => {
      provider.says.idToken = { sub: 'alice', ...idToken };
      provider.says.userinfo = { sub: 'alice', ...userinfo };
      return (await wholeWay()).email;
    };
    const signed = 'ceo@acme.com';
    expect(await vouched({ email: signed }, { email: 'mallory@evil.com', email_verified: true })).toBeUndefined();
    expect(await vouched({ email: signed }, { email_verified: true })).toBeUndefined();
    expect(await vouched({ email_verified: true }, { email: signed, email_verified: false })).toBeUndefined();
    expect(
      await vouched({ email: signed, email_verified: false }, { email: signed, email_verified: true }),
    ).toBeUndefined();
    expect(await vouched({ email: signed }, { email: signed, email_verified: true })).toBe(signed);
    expect(await vouched({}, { email: signed, email_verified: true })).toBe(signed);
  });

  it('lets nobody finish who did not begin', async () => {
    const mine = await begin();
    const theirs = await begin();
    const callback = await comeBack(theirs.url, redirectUri);
    await expect(finish(callback, mine.state)).rejects.toMatchObject(ended);
    for (const state of ['', '{}', 'null', '[]', JSON.stringify({ state: callback.searchParams.get('state') })]) {
      await expect(finish(callback, state)).rejects.toMatchObject(ended);
    }
    expect(provider.count.token).toBe(0);
  });

  it('refuses a state that is forged, missing, twice there or very long', async () => {
    const { url, state } = await begin();
    const good = await comeBack(url, redirectUri);
    const changes: ((params: URLSearchParams) => void)[] = [
      (params) => params.set('state', 'forged'),
      (params) => params.delete('state'),
      (params) => params.append('state', 'another'),
      (params) => params.append('more', 'x'.repeat(20_000)),
    ];
    for (const change of changes) {
      const callback = new URL(good);
      change(callback.searchParams);
      await expect(finish(callback, state)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(provider.count.token).toBe(0);
    // What others send does not end the person's own sign-in.
    await expect(finish(good, state)).resolves.toMatchObject({ subject: 'alice' });
  });

  it('takes an answer once, of two at once one alone', async () => {
    const { url, state } = await begin();
    const callback = await comeBack(url, redirectUri);
    const both = await Promise.allSettled([finish(callback, state), finish(callback, state)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(finish(callback, state)).rejects.toMatchObject(ended);
    expect(provider.count.token).toBe(1);
  });

  it('takes an answer once over all gateways, of two at once at two of them one alone', async () => {
    const config = { issuer: provider.issuer, clientId: 'sightline', clientSecret: secret, userinfo: false };
    const gateways = [
      redirectSignIn(makeOidcIssuer(store, config, { clock })),
      redirectSignIn(makeOidcIssuer(store, config, { clock, storage: await store.another() })),
    ];
    const { url, state } = await begin();
    const callback = await comeBack(url, redirectUri);
    const both = await Promise.allSettled(gateways.map((gateway) => gateway.finish(callback, state)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const gateway of gateways) await expect(gateway.finish(callback, state)).rejects.toMatchObject(ended);
    // It is not left to the provider, which should take a code once.
    expect(provider.count.token).toBe(1);
  });

  it('takes no answer after a quarter of an hour', async () => {
    const { url, state } = await begin();
    const callback = await comeBack(url, redirectUri);
    clock.advance(15 * 60_000);
    await expect(finish(callback, state)).rejects.toMatchObject(ended);
  });

  it('takes no answer of another issuer (mix-up), and none without its issuer where one was announced', async () => {
    provider.onRedirect = (url) => url.searchParams.set('iss', 'https://evil.example');
    await expect(wholeWay()).rejects.toMatchObject(ended);
    provider.onRedirect = (url) => url.searchParams.set('iss', `${provider.issuer}/`);
    await expect(wholeWay()).rejects.toMatchObject(ended);
    provider.onRedirect = (url) => url.searchParams.set('iss', provider.issuer);
    await expect(wholeWay()).resolves.toBeDefined();
    provider.says.metadata = { authorization_response_iss_parameter_supported: true };
    provider.onRedirect = () => {};
    make();
    await expect(wholeWay()).rejects.toMatchObject(ended);
  });

  it.each<[string, object]>([
    ['for another client', { aud: 'somebody else' }],
    ['for several without saying whose it is', { aud: ['sightline', 'somebody else'] }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of another sign-in', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['that is over', { exp: 1 }],
    ['without a subject', { sub: undefined }],
    ['of a subject that is a list', { sub: ['alice'] }],
  ])('does not believe an ID token %s', async (_name, claims) => {
    provider.says.idToken = { ...alice, ...claims };
    await expect(wholeWay()).rejects.toMatchObject({ code: 'forbidden' });
  });

  it.each<[string, object]>([
    ['iss', { iss: 'https://evil.example' }],
    ['aud', { aud: 'somebody else' }],
    ['nonce', { nonce: 'another' }],
    ['exp', { exp: 1 }],
  ])('names the claim %s that an ID token was refused for, and not what it says', async (claim, claims) => {
    provider.says.idToken = { ...alice, ...claims };
    await expect(wholeWay()).rejects.toMatchObject({ code: 'forbidden' });
    expect(lines.join('\n')).toContain(`"claim":"${claim}"`);
    expect(lines.join('\n')).not.toMatch(/evil|somebody else|another/);
  });

  it('says at debug which claims came, by name, and why each rule holds or not', async () => {
    make({
      memberships: [
        { organization: 'Acme', emailDomain: 'acme.com' },
        { organization: 'Acme', role: 'admin', group: ['admins', 'sre'] },
        { organization: 'Other', group: 'others' },
        { organizationClaim: ['app', 'org'] },
      ],
      userinfo: true,
    });
    provider.says.idToken = { ...alice, groups: ['sre', 'secret-group'] };
    provider.says.userinfo = { sub: 'alice', department: 'secret-department' };
    await wholeWay();
    const line = lines.find((text) => text.startsWith('The claims of a sign-in')) ?? '';
    expect(JSON.parse(line.slice(line.indexOf('{')))).toEqual({
      claims: expect.arrayContaining(['sub', 'email', 'groups']),
      userinfo: expect.arrayContaining(['sub', 'department']),
      absent: ['app.org'],
      vouched: true,
      rules: [
        { organization: 'Acme', role: 'member', holds: true, why: 'emailDomain acme.com' },
        { organization: 'Acme', role: 'admin', holds: true, why: 'group sre' },
        { organization: 'Other', role: 'member', holds: false, why: 'none of its groups is in the claim groups' },
        { organization: { claim: ['app', 'org'] }, role: 'member', holds: false, why: 'the claim app.org is absent' },
      ],
    });
    expect(line).not.toMatch(/alice|secret/i);
  });

  it('lets a person use another account, by what the provider knows', async () => {
    const prompt = async () => new URL((await signIn().begin(redirectUri, true)).url).searchParams.get('prompt');
    expect(await prompt()).toBe('login');
    provider.says.metadata = { prompt_values_supported: ['none', 'login', 'select_account'] };
    make({ parameters: { prompt: 'consent' } });
    expect(await prompt()).toBe('select_account');
    expect(new URL((await begin()).url).searchParams.get('prompt')).toBe('consent');
  });

  it('knows where a session ends at the provider, if there', async () => {
    provider.says.metadata = { end_session_endpoint: `${provider.origin}/endsession?tenant=1` };
    make();
    expect(await signIn().endSession?.()).toBe(`${provider.origin}/endsession?tenant=1&client_id=sightline`);
    for (const wrong of ['javascript:alert(1)', undefined]) {
      provider.says.metadata = { end_session_endpoint: wrong };
      make();
      expect(await signIn().endSession?.()).toBeUndefined();
    }
  });

  it('does not believe an ID token that is unsigned, signed with our secret or by a stranger', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const attacks = [
      { alg: 'HS256', key: new TextEncoder().encode(secret.padEnd(32)) },
      { alg: 'RS256', key: stranger.privateKey },
      { alg: 'none', key: undefined },
    ];
    for (const { alg, key } of attacks) {
      const { url, state } = await begin();
      const callback = await comeBack(url, redirectUri);
      const nonce = new URL(url).searchParams.get('nonce');
      const payload = { ...alice, iss: provider.issuer, aud: 'sightline', nonce };
      const signing = new SignJWT(payload).setIssuedAt().setExpirationTime('5m').setProtectedHeader({ alg });
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const time = Math.floor(Date.now() / 1_000);
      const token =
        key === undefined
          ? `${encode({ alg })}.${encode({ ...payload, iat: time, exp: time + 300 })}.`
          : await signing.sign(key);
      provider.replaceIdToken = token;
      await expect(finish(callback, state)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('follows a rotation of keys', async () => {
    await wholeWay();
    await provider.rotateKeys();
    // The key set is asked for again no sooner than 30 s after it was read.
    const later = Date.now() + 31_000;
    jest.spyOn(Date, 'now').mockImplementation(() => later);
    await expect(wholeWay()).resolves.toMatchObject({ subject: 'alice' });
    expect(provider.count.keys).toBe(2);
  });

  it('says what the provider says in words of ours', async () => {
    const sends = (error: string) => {
      provider.onRedirect = (url) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', error);
        url.searchParams.set('error_description', 'secret-of-the-provider');
      };
      return wholeWay();
    };
    await expect(sends('access_denied')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('did not let you in'),
    });
    await expect(sends('temporarily_unavailable')).rejects.toMatchObject(away);
    await expect(sends('<script>')).rejects.toMatchObject({ code: 'forbidden' });
    provider.onRedirect = () => {};
    provider.tokenFailure = { status: 400, error: 'invalid_grant' };
    await expect(wholeWay()).rejects.toMatchObject(ended);
    provider.tokenFailure = { status: 401, error: 'invalid_client' };
    await expect(wholeWay()).rejects.toMatchObject({ ...away, message: expect.stringContaining('not set up well') });
    expect(lines.join('\n')).toContain('check clientId');
    expect(lines.join('\n')).toContain('client_secret_post');
    provider.tokenFailure = { status: 503, error: 'x' };
    await expect(wholeWay()).rejects.toMatchObject(away);
  });

  it('is unavailable while the provider is down, asks it no more than needed, and comes back by itself', async () => {
    await provider.pause();
    await Promise.all([expect(begin()).rejects.toMatchObject(away), expect(begin()).rejects.toMatchObject(away)]);
    expect(lines.join('\n')).toContain('"code":"ECONNREFUSED"');
    await provider.resume();
    await expect(begin()).rejects.toMatchObject(away);
    expect(provider.count.discovery).toBe(0);
    clock.advance(6_000);
    await expect(wholeWay()).resolves.toMatchObject({ subject: 'alice' });
    expect(provider.count.discovery).toBe(1);
    const { url, state } = await begin();
    const callback = await comeBack(url, redirectUri);
    await provider.pause();
    await expect(finish(callback, state)).rejects.toMatchObject(away);
    // An hour on it is asked again who it is, and what it said before still holds.
    clock.advance(3_600_000);
    await expect(begin()).resolves.toBeDefined();
  });

  it.each<[string, (issuer: string) => string]>([
    ['otherwise', () => 'https://evil.example'],
    ['the same with a slash', (issuer) => `${issuer}/`],
  ])('is unavailable, and told to the operator, where the provider calls itself %s', async (_name, called) => {
    provider.says.metadata = { issuer: called(provider.issuer) };
    await expect(begin()).rejects.toMatchObject(away);
    expect(lines.join('\n')).toContain('cannot be asked who it is');
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['no page to sign in at', { authorization_endpoint: undefined }],
    ['a page that is a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['no address for codes', { token_endpoint: 7 }],
    ['keys in a file', { jwks_uri: 'file:///etc/passwd' }],
  ])('is unavailable where the provider names %s', async (_name, metadata) => {
    provider.says.metadata = metadata;
    await expect(begin()).rejects.toMatchObject(away);
    expect(lines.join('\n')).toContain('cannot be asked who it is');
  });

  it('reads no endless answer', async () => {
    provider.says.metadata = { more: 'x'.repeat(300_000) };
    await expect(begin()).rejects.toMatchObject(away);
  });

  it('turns away whom the directory puts into too many groups, in words', async () => {
    make({ memberships: [...memberships, { organization: 'Acme', role: 'admin', group: 'admins' }] });
    provider.says.idToken = { ...alice, _claim_names: { groups: 'src1' } };
    await expect(wholeWay()).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('more groups than fit'),
    });
  });
});

describe('signing in at a second oidc-provider', () => {
  it('goes the whole way, with the address from userinfo', async () => {
    // It warns of keeping everything in memory.
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    const provider = await startSecondProvider(redirectUri);
    try {
      const signIn = redirectSignIn(
        makeOidcIssuer(store, {
          issuer: provider.issuer,
          clientId: secondClient.id,
          clientSecret: secondClient.secret,
          memberships,
        }),
      );
      const { url, state } = await signIn.begin(redirectUri);
      const callback = await comeBack(url, redirectUri);
      expect(callback.searchParams.get('iss')).toBe(provider.issuer);
      expect(await signIn.finish(callback, state)).toEqual({
        issuer: provider.issuer,
        subject: 'alice',
        email: 'alice@acme.com',
        name: 'Alice',
        memberships: [{ organization: 'Acme', role: 'member' }],
      });
      await expect(signIn.finish(callback, state)).rejects.toMatchObject(ended);
      const other = redirectSignIn(
        makeOidcIssuer(store, {
          issuer: provider.issuer,
          clientId: secondClient.id,
          clientSecret: secondClient.secret,
        }),
      );
      await expect(other.finish(callback, state)).rejects.toMatchObject(ended);
    } finally {
      jest.restoreAllMocks();
      await provider.close();
    }
  });
});

const named = process.env['OIDC_TEST_ISSUER'];
if (named !== undefined && named !== '') {
  describe(`signing in at ${named}`, () => {
    it('begins at its own page, and its keys can be had', async () => {
      const issuer = makeOidcIssuer(store, {
        issuer: named,
        mode: 'resource-server',
        clientId: process.env['OIDC_TEST_CLIENT_ID'] ?? 'sightline',
        clientSecret: process.env['OIDC_TEST_CLIENT_SECRET'] ?? 'unknown',
      });
      const { url } = await redirectSignIn(issuer).begin(redirectUri);
      expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
      const trust = issuer.trusts.find((candidate) => candidate.issuer === named);
      await expect(trust?.keys({ alg: 'RS256', kid: 'no such key' }, { payload: '', signature: '' })).rejects.toThrow(
        expect.objectContaining({ code: 'ERR_JWKS_NO_MATCHING_KEY' }),
      );
    });
  });
}
