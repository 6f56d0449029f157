import { createServer, IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import type { TokenIntrospection, TokenTrust } from '../../contract/issuer/index.ts';
import { newId, type Logger } from '../../contract/core/index.ts';
import { createVerifier } from './verifier.ts';

const issuerUrl = 'https://idp.example';
const resource = 'https://mcp.example/mcp';
const organizationId = newId('org');
const userId = newId('usr');
const start = Date.parse('2026-11-21T10:00:00Z');
const seconds = start / 1_000;
const logger: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
const good = {
  active: true,
  iss: issuerUrl,
  aud: resource,
  sub: 'alice',
  scope: 'telemetry:read',
  exp: seconds + 3_600,
};

interface Asked {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

let server: Server;
let endpoint: string;
let asked: Asked[];
let answer: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
let time: number;

const says = (body: object) => (answer = { status: 200, body: JSON.stringify(body) });

beforeEach(async () => {
  asked = [];
  time = start;
  says(good);
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      asked.push({ authorization: request.headers.authorization, form: new URLSearchParams(text) });
      if (request.url === '/elsewhere') response.writeHead(200).end(JSON.stringify(good));
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  endpoint = `http://127.0.0.1:${address.port}/introspect`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function verifier(changed: Partial<TokenIntrospection> = {}, trusts: readonly TokenTrust[] = []) {
  const [first = { issuer: 'https://own.example', algorithms: ['ES256'], keys: noKeys, claims: () => undefined }] =
    trusts;
  const verify = createVerifier({
    issuer: {
      trusts: [first],
      introspection: {
        issuer: issuerUrl,
        endpoint,
        authorization: 'Basic c2VydmljZTpzZWNyZXQ=',
        claims: (payload) =>
          payload.sub === undefined
            ? undefined
            : {
                kind: 'external',
                identity: { issuer: issuerUrl, subject: payload.sub, memberships: [] },
                clientId: 'client',
                scopes: ['telemetry:read'],
              },
        ...changed,
      },
    },
    resource,
    directory: {
      liveKey: async () => undefined,
      liveGrant: async () => undefined,
      liveMember: async () => ({ email: 'alice@example.com', role: 'member' }),
    },
    admit: async () => ({ userId, organizationId }),
    markUsed: () => {},
    now: () => new Date(time),
    logger,
  });
  return (token: string) => {
    const request = new IncomingMessage(new Socket());
    request.headers.authorization = `Bearer ${token}`;
    return verify(request);
  };
}

async function noKeys(): Promise<never> {
  throw new Error('nobody asks for keys');
}

describe('a token that is no JWT', () => {
  it('is what its issuer says about it', async () => {
    expect(await verifier()('opaque')).toMatchObject({ kind: 'user', subject: userId, organizationId });
    expect(asked.map(({ authorization }) => authorization)).toEqual(['Basic c2VydmljZTpzZWNyZXQ=']);
    expect([...(asked[0]?.form ?? [])]).toEqual([
      ['token', 'opaque'],
      ['token_type_hint', 'access_token'],
    ]);
  });

  it('is asked about once in 30 seconds, by however many requests', async () => {
    const verify = verifier();
    await Promise.all([verify('opaque'), verify('opaque'), verify('opaque')]);
    await verify('opaque');
    expect(asked).toHaveLength(1);
    time += 31_000;
    says({ active: false });
    await expect(verify('opaque')).rejects.toMatchObject({ code: 'invalid_token' });
    expect(asked).toHaveLength(2);
  });

  it('ends when it expires, though the answer is still kept', async () => {
    says({ ...good, exp: seconds + 10 });
    const verify = verifier();
    await verify('opaque');
    time += 16_000;
    await expect(verify('opaque')).rejects.toMatchObject({ message: 'The access token has expired.' });
  });

  it.each<[string, object]>([
    ['is not active', { ...good, active: false }],
    ['is for another audience', { ...good, aud: 'https://other.example' }],
    ['is for the audience with a slash', { ...good, aud: `${resource}/` }],
    ['is for no audience', { ...good, aud: undefined }],
    ['is for an audience that is no text', { ...good, aud: { [resource]: true } }],
    ['is of another issuer', { ...good, iss: 'https://evil.example' }],
    ['is over', { ...good, exp: seconds - 6 }],
    ['has no end', { ...good, exp: undefined }],
    ['has an end that is no number', { ...good, exp: '9999999999' }],
    ['has not begun', { ...good, nbf: seconds + 60 }],
    ['speaks of nobody', { ...good, sub: undefined }],
  ])('is refused where it %s', async (_name, body) => {
    says(body);
    await expect(verifier()('opaque')).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it('may leave out its issuer, and be for an audience of the config', async () => {
    says({ ...good, iss: undefined, aud: ['api://sightline', 'other'] });
    await expect(verifier({ audiences: ['api://sightline'] })('opaque')).resolves.toBeDefined();
    says({ ...good, iss: undefined });
    await expect(verifier({ audiences: ['api://sightline'] })('another')).rejects.toMatchObject({
      code: 'invalid_token',
    });
  });

  it.each<[string, { status: number; body: string; headers?: Record<string, string> }]>([
    ['fails', { status: 500, body: '' }],
    ['does not know us', { status: 401, body: '' }],
    ['says nothing', { status: 200, body: '' }],
    ['does not say whether it is active', { status: 200, body: JSON.stringify({ ...good, active: 'true' }) }],
    ['says more than 64 kB', { status: 200, body: JSON.stringify({ ...good, more: 'x'.repeat(70_000) }) }],
    ['sends elsewhere', { status: 307, body: '', headers: { location: '/elsewhere' } }],
  ])('is neither good nor bad where its issuer %s', async (_name, what) => {
    answer = what;
    const verify = verifier();
    await expect(verify('opaque')).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    says(good);
    await expect(verify('opaque')).resolves.toBeDefined();
  });

  it('is neither good nor bad while nobody answers', async () => {
    const verify = verifier();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(verify('opaque')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is asked about by no more than 64 at once', async () => {
    const verify = verifier();
    const answers = await Promise.allSettled(
      Array.from({ length: 80 }, async (_unused, index) => verify(`opaque-${index}`)),
    );
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect([refused.length, asked.length]).toEqual([16, 64]);
    await expect(verify('opaque-79')).resolves.toBeDefined();
  });
});

describe('a token that is a JWT', () => {
  const payload: JWTPayload = { iss: issuerUrl, aud: resource, sub: 'alice', exp: seconds + 60 };

  it('is checked with keys, and never sent to anybody', async () => {
    const pair = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(pair.publicKey)), alg: 'ES256' };
    const claims: TokenTrust['claims'] = () => ({
      kind: 'external',
      identity: { issuer: issuerUrl, subject: 'alice', memberships: [] },
      clientId: 'client',
      scopes: [],
    });
    const keys = createLocalJWKSet({ keys: [jwk] });
    const verify = verifier({}, [{ issuer: issuerUrl, algorithms: ['ES256'], keys, claims }]);
    const sign = (what: JWTPayload) => new SignJWT(what).setProtectedHeader({ alg: 'ES256' }).sign(pair.privateKey);
    await expect(verify(await sign(payload))).resolves.toBeDefined();
    const { iss: _, ...anonymous } = payload;
    await expect(verify(await sign(anonymous))).rejects.toMatchObject({ code: 'invalid_token' });
    await expect(verify(await sign({ ...payload, iss: 'https://evil.example' }))).rejects.toMatchObject({
      code: 'invalid_token',
    });
    expect(asked).toEqual([]);
  });
});
