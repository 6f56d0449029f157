import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { newId, SightlineError } from '../../src/contract/core/index.ts';
import { type Issuer } from '../../src/contract/issuer/index.ts';
import { type AuditLog, type Storage } from '../../src/contract/storage/index.ts';
import {
  basic,
  everything,
  exchange,
  listen,
  makeIssuer,
  openStore,
  operator,
  recordingLogger,
  serveIssuer,
  signal,
  tokenOf,
  type Pair,
  type TestServer,
  type TestStore,
} from './support.ts';
import { storedBy } from '../support/stored.ts';

describe('POST /oauth2/token', () => {
  let store: TestStore;
  let server: TestServer;
  let issuer: Issuer;
  let pair: Pair;
  const { logger, lines } = recordingLogger();

  beforeAll(async () => {
    store = await openStore();
    server = await listen();
    issuer = makeIssuer(store, { authUrl: server.url, logger });
    await issuer.start(signal());
    serveIssuer(server, issuer);
    pair = await newPair();
  });
  afterAll(async () => {
    await issuer.stop();
    await server.close();
    await store.close();
  });

  const newPair = (scopes = everything) =>
    store.keys.create({ organizationId: store.organization.id, name: 'test', scopes, actor: operator });
  const post = (body: string, headers: Record<string, string> = {}, path = '/oauth2/token') =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const fields = (extra: Record<string, string> = {}) =>
    new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: pair.clientId,
      client_secret: pair.clientSecret,
      ...extra,
    }).toString();
  const answer = async (response: Response) => ({ status: response.status, body: await response.json() });

  describe('with a good key', () => {
    it('answers a bearer token for one hour, not to be cached', async () => {
      const response = await exchange(server.url, pair);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toEqual({
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 3600,
        scope: everything.join(' '),
      });
    });

    it('signs what it says with a published key', async () => {
      const token = await tokenOf(await exchange(server.url, pair));
      const jwks = createRemoteJWKSet(new URL(`${server.url}/oauth2/jwks`));
      const { payload, protectedHeader } = await jwtVerify(token, jwks, {
        issuer: server.url,
        audience: `${server.url}/mcp`,
        typ: 'at+jwt',
        algorithms: ['ES256'],
      });
      expect(protectedHeader.alg).toBe('ES256');
      expect(payload).toEqual({
        iss: server.url,
        aud: `${server.url}/mcp`,
        sub: pair.clientId,
        client_id: pair.clientId,
        org: store.organization.id,
        kind: 'key',
        secret_id: expect.stringMatching(/^sec_/),
        scope: everything.join(' '),
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: (payload.iat ?? 0) + 3600,
      });
    });

    it('takes the pair by HTTP Basic, raw and form-encoded', async () => {
      const encoded = percentEncoded(pair.clientSecret);
      for (const secret of [pair.clientSecret, encoded]) {
        const response = await post('grant_type=client_credentials', { authorization: basic(pair.clientId, secret) });
        expect(decodeJwt(await tokenOf(response)).sub).toBe(pair.clientId);
      }
    });

    it('decodes percent signs in the form', async () => {
      const encoded = percentEncoded(pair.clientSecret);
      const body = `grant_type=client%5Fcredentials&client_id=${pair.clientId}&client_secret=${encoded}`;
      expect((await post(body)).status).toBe(200);
      // A plus stands for a blank, so it is not the plus of a secret; a broken escape is not a secret either.
      expect((await post(`${body}+`)).status).toBe(401);
      expect((await post(`${body}%zz`)).status).toBe(401);
      expect((await post(`${body}%`)).status).toBe(401);
    });

    it('grants the scopes asked for, and nothing the key does not have', async () => {
      const small = await newPair(['telemetry:read', 'chats:read']);
      const granted = async (extra: Record<string, string>) =>
        decodeJwt(await tokenOf(await exchange(server.url, small, extra)))['scope'];
      expect(await granted({})).toBe('telemetry:read chats:read');
      expect(await granted({ scope: '' })).toBe('telemetry:read chats:read');
      expect(await granted({ scope: 'chats:read' })).toBe('chats:read');
      expect(await granted({ scope: everything.join(' ') })).toBe('telemetry:read chats:read');
      expect(await granted({ scope: 'offline_access chats:write chats:read' })).toBe('chats:read');
      for (const scope of ['chats:write', 'ingest:read chats:write', 'openid', 'offline_access', 'CHATS:READ', '*']) {
        const refused = await answer(await exchange(server.url, small, { scope }));
        expect([scope, refused]).toMatchObject([scope, { status: 400, body: { error: 'invalid_scope' } }]);
      }
      const answered = await answer(await exchange(server.url, small, { scope: everything.join(' ') }));
      expect(answered.body).toMatchObject({ scope: 'telemetry:read chats:read' });
      for (const scope of ['chats:read\0', 'chats:read  telemetry:read', '"', 'x'.repeat(5_000)]) {
        const refused = await exchange(server.url, small, { scope });
        expect(refused.status).toBe(400);
        expect((await refused.text()).length).toBeLessThan(500);
      }
    });

    it('means the MCP endpoint by each of its names, and says so in the audience', async () => {
      const { port } = new URL(server.url);
      for (const resource of [
        `${server.url}/mcp`,
        `${server.url}/mcp/`,
        server.url,
        `${server.url}/`,
        `http://localhost:${port}/mcp`,
      ]) {
        const token = await tokenOf(await exchange(server.url, pair, { resource }));
        expect([resource, decodeJwt(token).aud]).toEqual([resource, `${server.url}/mcp`]);
      }
    });

    it('mints for no other resource', async () => {
      for (const resource of [
        'https://elsewhere.example/mcp',
        `${server.url}/mcp/other`,
        `${server.url}/mcp#fragment`,
        `${server.url}/mcp?x=1`,
        `${server.url.replace('http:', 'https:')}/mcp`,
        `${server.url.replace('//', '//user@')}/mcp`,
        '/mcp',
        'mcp',
      ]) {
        const refused = await answer(await exchange(server.url, pair, { resource }));
        expect([resource, refused]).toMatchObject([resource, { status: 400, body: { error: 'invalid_target' } }]);
      }
      const two = `${fields({ resource: `${server.url}/mcp` })}&resource=${encodeURIComponent('https://elsewhere.example')}`;
      expect(await answer(await post(two))).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    });

    it('takes either of two secrets, and says which one it was', async () => {
      const first = await newPair();
      const second = await store.keys.rotate(first.clientId, operator);
      const [one, two] = await Promise.all(
        [first, second].map(async (each) => decodeJwt(await tokenOf(await exchange(server.url, each)))['secret_id']),
      );
      expect(one).not.toBe(two);
      await store.keys.retire(first.clientId, operator);
      expect((await exchange(server.url, first)).status).toBe(401);
      expect(decodeJwt(await tokenOf(await exchange(server.url, second)))['secret_id']).toBe(two);
      await store.keys.revoke(first.clientId, operator);
      expect((await exchange(server.url, second)).status).toBe(401);
    });

    it('answers a page of any origin, since it is the secret that counts and not the browser', async () => {
      const response = await post(fields(), { origin: 'https://evil.example' });
      expect(response.status).toBe(200);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
      const preflight = await fetch(`${server.url}/oauth2/token`, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');
    });

    it('mints many at once, each with an id of its own', async () => {
      const tokens = await Promise.all(
        Array.from({ length: 50 }, async () => tokenOf(await exchange(server.url, pair))),
      );
      expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(50);
    });

    it('writes in the audit log which secret was used', async () => {
      const fresh = await newPair();
      const { secret_id: secretId } = decodeJwt(await tokenOf(await exchange(server.url, fresh)));
      const { audit } = store.storage.workspace(store.organization.id);
      const end = Date.now() + 5_000;
      let records = await audit.list({ limit: 500 });
      while (!records.some(({ target }) => target === secretId) && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        records = await audit.list({ limit: 500 });
      }
      expect(records.find(({ target }) => target === secretId)).toMatchObject({
        event: 'token.issued',
        subject: fresh.clientId,
        outcome: 'ok',
      });
    });
  });

  describe('with anything else', () => {
    it('leaves a line at debug for what is refused, without secrets', async () => {
      const before = lines.length;
      expect((await post(fields({ scope: 'nothing' }))).status).toBe(400);
      const authorize = new URLSearchParams({
        client_id: 'nobody-knows',
        redirect_uri: 'https://a.example/',
        response_type: 'code',
      });
      await (await fetch(`${server.url}/oauth2/authorize?${authorize.toString()}`)).body?.cancel();
      const told = lines.slice(before).join('\n');
      expect(told).toContain('A token request was refused. {"code":"invalid_scope"');
      expect(told).toContain('An authorization request was refused. {"code":"invalid_client"');
      expect(told).toContain('"client":"nobody-knows"');
      expect(told).not.toContain(pair.clientSecret);
    });

    it('tells who has the secret that the key is paused, and nobody else', async () => {
      const { clientId, clientSecret } = await newPair();
      await tokenOf(await exchange(server.url, { clientId, clientSecret }));
      await store.keys.pause(clientId, operator);
      for (let time = 0; time < 12; time += 1) {
        const refused = await exchange(server.url, { clientId, clientSecret });
        expect([refused.status, await refused.json()]).toEqual([
          400,
          { error: 'unauthorized_client', error_description: expect.stringContaining('is paused') },
        ]);
      }
      const guessed = await exchange(server.url, { clientId, clientSecret: `${clientSecret}x` });
      expect([guessed.status, await guessed.json()]).toEqual([
        401,
        expect.objectContaining({ error: 'invalid_client' }),
      ]);
      await store.keys.resume(clientId, operator);
      expect((await exchange(server.url, { clientId, clientSecret })).status).toBe(200);
    });

    it('answers an unknown id and a wrong secret alike', async () => {
      const wrong: Pair[] = [
        { clientId: pair.clientId, clientSecret: `${pair.clientSecret}x` },
        { clientId: pair.clientId, clientSecret: pair.clientSecret.slice(0, -1) },
        { clientId: pair.clientId, clientSecret: pair.clientSecret.toUpperCase() },
        { clientId: newId('ak'), clientSecret: pair.clientSecret },
        { clientId: 'nobody', clientSecret: pair.clientSecret },
        { clientId: `${pair.clientId}\0`, clientSecret: pair.clientSecret },
        { clientId: pair.clientId.toUpperCase(), clientSecret: pair.clientSecret },
        { clientId: 'api-key', clientSecret: 'unused' },
        { clientId: '__proto__', clientSecret: 'unused' },
        { clientId: pair.clientId, clientSecret: 'x'.repeat(15_000) },
        { clientId: pair.clientId, clientSecret: `${pair.clientSecret}\0` },
      ];
      const seen = new Set<string>();
      for (const each of wrong) {
        const response = await exchange(server.url, each);
        const headers = [...response.headers].filter(([name]) => name !== 'date' && name !== 'keep-alive');
        seen.add(JSON.stringify([response.status, headers, await response.text()]));
      }
      expect([...seen]).toHaveLength(1);
      expect([...seen][0]).toContain(
        '{\\"error\\":\\"invalid_client\\",\\"error_description\\":\\"client authentication failed\\"}',
      );
      expect((await exchange(server.url, pair)).status).toBe(200);
    });

    it('challenges a client that used HTTP Basic', async () => {
      const response = await post('grant_type=client_credentials', { authorization: basic(pair.clientId, 'wrong') });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    });

    it('refuses a client that shows no secret, or shows it twice over', async () => {
      const cases: readonly [number, string, Record<string, string>][] = [
        [400, 'grant_type=client_credentials', {}],
        [401, `grant_type=client_credentials&client_id=${pair.clientId}`, {}],
        [401, `grant_type=client_credentials&client_id=${pair.clientId}&client_secret=`, {}],
        [400, `grant_type=client_credentials&client_secret=${pair.clientSecret}`, {}],
        [400, fields(), { authorization: basic(pair.clientId, pair.clientSecret) }],
        [
          400,
          `grant_type=client_credentials&client_id=${newId('ak')}`,
          { authorization: basic(pair.clientId, pair.clientSecret) },
        ],
        [400, 'grant_type=client_credentials', { authorization: `Bearer ${pair.clientSecret}` }],
        [400, 'grant_type=client_credentials', { authorization: 'Basic' }],
        [400, 'grant_type=client_credentials', { authorization: 'Basic !!!' }],
        [400, 'grant_type=client_credentials', { authorization: `Basic ${Buffer.from('nocolon').toString('base64')}` }],
        [400, 'grant_type=client_credentials', { authorization: basic(pair.clientId, '%zz') }],
        [400, 'grant_type=client_credentials', { authorization: basic(pair.clientId, '\0') }],
        [400, 'grant_type=client_credentials', { authorization: basic(pair.clientId, '') }],
      ];
      for (const [status, body, headers] of cases) {
        const response = await post(body, headers);
        expect([body, headers, response.status]).toEqual([body, headers, status]);
        expect(await response.json()).toMatchObject({ error: expect.stringMatching(/^invalid_(request|client)$/) });
      }
    });

    it('refuses parameters that come twice', async () => {
      for (const name of ['grant_type', 'client_id', 'client_secret', 'scope']) {
        const value = new URLSearchParams(fields({ scope: 'chats:read' })).get(name) ?? '';
        const body = `${fields({ scope: 'chats:read' })}&${name}=${encodeURIComponent(value)}`;
        expect(await answer(await post(body))).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
      }
    });

    it('exchanges a key by one grant, whatever it shows beside', async () => {
      for (const grant_type of ['authorization_code', 'refresh_token']) {
        const refused = await answer(await post(fields({ grant_type, code: 'x', refresh_token: 'x' })));
        expect([grant_type, refused]).toMatchObject([grant_type, { status: 400, body: { error: 'invalid_request' } }]);
      }
      for (const grant_type of [
        'password',
        'implicit',
        'urn:ietf:params:oauth:grant-type:device_code',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
        'CLIENT_CREDENTIALS',
        'constructor',
      ]) {
        const refused = await answer(await post(fields({ grant_type, code: 'x', refresh_token: 'x' })));
        expect([grant_type, refused]).toMatchObject([
          grant_type,
          { status: 400, body: { error: 'unsupported_grant_type' } },
        ]);
      }
      const none = await post(`client_id=${pair.clientId}&client_secret=${pair.clientSecret}`);
      expect(await answer(none)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    });

    it('takes a form and nothing else', async () => {
      const json = JSON.stringify(Object.fromEntries(new URLSearchParams(fields())));
      for (const [type, body] of [
        ['application/json', json],
        ['text/plain', fields()],
        ['multipart/form-data; boundary=x', fields()],
      ] as const) {
        const refused = await answer(await post(body, { 'content-type': type }));
        expect([type, refused]).toMatchObject([type, { status: 400, body: { error: 'invalid_request' } }]);
      }
      const bare = await raw(
        `POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: ${fields().length}\r\nConnection: close\r\n\r\n${fields()}`,
      );
      expect(bare).toMatch(/^HTTP\/1.1 400 /);
    });

    it('refuses a body that is too large, declared or not', async () => {
      const declared = await answer(await post(`${fields()}&x=${'y'.repeat(20_000)}`));
      expect(declared).toMatchObject({ status: 413, body: { error: 'invalid_request' } });
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const request = httpRequest(
          `${server.url}/oauth2/token`,
          { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
          (response) => {
            resolve(response.statusCode);
            response.resume();
            request.destroy();
          },
        );
        request.on('error', reject);
        request.write(fields());
        for (let index = 0; index < 20; index += 1) request.write(`&x=${'y'.repeat(10_000)}`);
        request.end();
      });
      expect(status).toBe(400);
    });

    it('refuses credentials in the URL, and reads nothing there', async () => {
      const secretInUrl = `?client_id=${pair.clientId}&client_secret=${pair.clientSecret}`;
      expect((await post('grant_type=client_credentials', {}, `/oauth2/token${secretInUrl}`)).status).toBe(400);
      const grantInUrl = '/oauth2/token?grant_type=client_credentials';
      const body = `client_id=${pair.clientId}&client_secret=${pair.clientSecret}`;
      expect((await post(body, {}, grantInUrl)).status).toBe(400);
    });

    it('takes POST alone', async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
        const response = await fetch(`${server.url}/oauth2/token?${fields()}`, { method });
        expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS']);
      }
    });

    it('answers JSON to a browser, too', async () => {
      const response = await post(fields({ client_secret: 'wrong' }), { accept: 'text/html' });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toMatchObject({ error: 'invalid_client' });
    });
  });

  it('takes authority from the stored key, never from what a client says of itself', async () => {
    const other = await store.storage.directory.createOrganization({ name: 'Other' });
    const small = await newPair(['telemetry:read']);
    const token = await tokenOf(
      await exchange(server.url, small, {
        org: other.id,
        x_org: other.id,
        organization: other.id,
        kind: 'user',
        sub: pair.clientId,
        secret_id: newId('sec'),
        scopes: everything.join(' '),
        audience: 'https://elsewhere.example',
        aud: 'https://elsewhere.example',
        client_metadata: JSON.stringify({ scope: everything.join(' ') }),
      }),
    );
    expect(decodeJwt(token)).toMatchObject({
      org: store.organization.id,
      kind: 'key',
      sub: small.clientId,
      scope: 'telemetry:read',
      aud: `${server.url}/mcp`,
    });
  });

  it('has no door for clients that describe themselves', async () => {
    for (const path of ['/reg', '/register', '/token', '/me', '/session/end', '/interaction/x', '/auth', '/request']) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${server.url}${path}`, { method });
        expect([path, response.status, await response.text()]).toEqual([path, 404, 'elsewhere']);
      }
    }
    const assertion = { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
    const jwt = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: pair.clientId })).toString('base64url')}.`;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      ...assertion,
      client_assertion: jwt,
    }).toString();
    expect((await post(body)).status).toBe(401);
  });

  it('is not led astray by Host, forwarded headers or an absolute request line', async () => {
    const headers =
      'Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\nForwarded: host=evil.example';
    const body = fields();
    const posted = await raw(
      `POST /oauth2/token HTTP/1.1\r\n${headers}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(posted).toMatch(/^HTTP\/1.1 200 /);
    expect(posted).not.toContain('evil.example');
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/oauth2/jwks',
    ]) {
      const document = await raw(`GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
      expect(document).toMatch(/^HTTP\/1.1 200 /);
      expect(document).not.toContain('evil.example');
    }
  });

  it('tells an address to slow down after ten failures, and never a good key', async () => {
    const target = await newPair();
    const bad = { clientId: target.clientId, clientSecret: 'wrong' };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) statuses.push((await exchange(server.url, bad)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    const refused = await exchange(server.url, bad);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: 'slow_down' });
    expect((await exchange(server.url, target)).status).toBe(200);
    expect((await exchange(server.url, { ...bad, clientId: newId('ak') })).status).toBe(401);
    expect((await exchange(server.url, bad)).status).toBe(429);
  });

  it('answers 503 while storage cannot be read, and keeps what it said about that to the log', async () => {
    const broken = recordingLogger();
    const elsewhere = await listen();
    const { directory } = store.storage;
    const failing: Storage = Object.create(store.storage, {
      directory: {
        value: {
          signingKeys: () => directory.signingKeys(),
          replaceSigningKeys: directory.replaceSigningKeys.bind(directory),
          keyForExchange: () => Promise.reject(new Error('SECRET-DSN unreachable')),
        },
      },
    });
    const second = makeIssuer(store, {
      authUrl: elsewhere.url,
      logger: broken.logger,
      storage: failing,
    });
    await second.start(signal());
    serveIssuer(elsewhere, second);
    const response = await exchange(elsewhere.url, pair);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(broken.lines.join('\n')).toContain('SECRET-DSN');
    expect(await response.text()).not.toContain('SECRET-DSN');
    await second.stop();
    await elsewhere.close();
  });

  it('gives no token that cannot be recorded: 503 until the audit can keep records again', async () => {
    const elsewhere = await listen();
    let full = true;
    const told: string[] = [];
    const audit: AuditLog = {
      reserve: () => {
        throw new Error('a token waits for nothing');
      },
      reserveNow() {
        if (full) throw new SightlineError('unavailable', 'the audit is full', { retryAfterSeconds: 1 });
        return ({ event }) => void told.push(event);
      },
    };
    const second = makeIssuer(store, { authUrl: elsewhere.url, audit });
    await second.start(signal());
    serveIssuer(elsewhere, second);
    const refused = await exchange(elsewhere.url, pair);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    const body = await refused.text();
    expect(JSON.parse(body)).toMatchObject({ error: 'temporarily_unavailable' });
    expect(body).not.toContain('access_token');
    full = false;
    await tokenOf(await exchange(elsewhere.url, pair));
    expect(told).toEqual(['token.issued']);
    await second.stop();
    await elsewhere.close();
  });

  it('lets no secret and no token into the log or the store', async () => {
    const token = await tokenOf(await exchange(server.url, pair));
    await exchange(server.url, { ...pair, clientSecret: 'a-wrong-secret-that-nobody-may-read' });
    await post('grant_type=nonsense&client_secret=a-wrong-secret-that-nobody-may-read');
    await issuer.stop();
    await issuer.start(signal());
    const log = lines.join('\n');
    expect(log).not.toContain(pair.clientSecret);
    expect(log).not.toContain('a-wrong-secret-that-nobody-may-read');
    expect(log).not.toContain(token);
    const stored = await storedBy(store.storage, store.directory);
    expect(stored.includes(pair.clientId)).toBe(true);
    expect(stored.includes(pair.clientSecret)).toBe(false);
    expect(stored.includes(pair.clientSecret.slice(4, 24))).toBe(false);
    expect(stored.includes(token.slice(0, 60))).toBe(false);
    expect(stored.includes(String(decodeJwt(token).jti))).toBe(false);
    expect(stored.includes('"d":"')).toBe(false);
  });

  function raw(text: string): Promise<string> {
    const { port } = new URL(server.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let received = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => (received += chunk));
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });
  }
});

function percentEncoded(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&');
}
