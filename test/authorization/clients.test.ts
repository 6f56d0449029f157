import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { createClients, type Clients } from '../../src/identity/issue/clients/index.ts';
import { authorizationServerSchema } from '../../src/contract/issuer/index.ts';
import { openStore, testClock, type TestStore } from '../issuer/support.ts';
import { listen } from '../support/listen.ts';
import { rawRequest } from '../support/raw-http.ts';
import { authority, type Authority } from './clients-provider.ts';
import { recordingLogger, testInternet, type Internet } from './clients-support.ts';

const secret = 'a-secret-of-more-than-thirty-two-characters';
const registered = [
  { clientId: 'portal', clientName: 'Portal', redirectUris: ['https://client.example/callback'], clientSecret: secret },
  { clientId: 'tool', clientName: 'Tool', redirectUris: ['http://127.0.0.1/callback'] },
];

let net: Internet;
let store: TestStore;
let clients: Clients;
let server: Server;
let registration: string;
let as: Authority;
const clock = testClock();
const served = new Map<string, unknown>();

beforeAll(async () => {
  net = await testInternet();
  net.serve = (request, response) => {
    const document = served.get(`https://${request.headers.host}${request.url}`);
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  };
  store = await openStore(clock);
  server = createServer((request, response) => void clients.register(request, response, '198.51.100.7'));
  registration = `http://127.0.0.1:${await listen(server)}/oauth2/register`;
});
afterAll(async () => {
  await as.close();
  await new Promise((resolve) => server.close(resolve));
  await store.close();
  await net.close();
});
beforeEach(async () => {
  await as?.close();
  served.clear();
  clients = createClients({
    config: authorizationServerSchema.parse({ clients: { registered } }).clients,
    issuer: 'https://gateway.example',
    repository: store.storage.directory.clients,
    buckets: () => store.storage.directory.buckets,
    now: clock.now,
    logger: recordingLogger().logger,
    caller: () => '198.51.100.7',
    network: net,
  });
  as = await authority(clients);
});

async function register(metadata: object): Promise<Record<string, unknown>> {
  const answer = await rawRequest(registration, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  expect(answer).toMatchObject({ status: 201 });
  return Object.fromEntries(Object.entries(answer.json ?? {}));
}

async function expectRedirects(id: string, to: { yes: readonly string[]; no: readonly string[] }): Promise<void> {
  for (const uri of to.yes) {
    const answer = await as.authorize(id, uri);
    expect({ uri, ...answer }).toMatchObject({
      uri,
      status: 303,
      headers: { location: expect.stringMatching(/^\/consent\//) },
    });
  }
  for (const uri of to.no) {
    const answer = await as.authorize(id, uri);
    expect([uri, answer.status, answer.json]).toEqual([
      uri,
      400,
      expect.objectContaining({ error: 'invalid_redirect_uri' }),
    ]);
    expect(answer.headers.location).toBeUndefined();
  }
}

/** What the official clients do: the way that their registration names, without form-encoding. */
async function expectProof(id: string, shown?: { readonly secret: string; readonly by: 'basic' | 'post' }) {
  const prove = (given?: string) => {
    if (!shown || given === undefined) return as.redeem({ client_id: id });
    if (shown.by === 'post') return as.redeem({ client_id: id, client_secret: given });
    return as.redeem({}, { authorization: `Basic ${Buffer.from(`${id}:${given}`).toString('base64')}` });
  };
  expect(await prove(shown?.secret)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  if (!shown) return;
  expect(await prove(`${shown.secret}x`)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  expect(await prove()).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  // Who reads the store has what the library compares with, and is not the client.
  const hash = (await clients.find(id))?.client_secret ?? '';
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await prove(hash)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
}

async function expectGrants(id: string, ...grants: readonly string[]): Promise<void> {
  const client = await as.provider.Client.find(id);
  expect([client?.grantTypes, client?.responseTypes]).toEqual([grants, ['code']]);
}

describe('clients known by a document', () => {
  it('Claude Code: loopback without a port and no application_type, any port at the request', async () => {
    const id = 'https://claude.ai/oauth/claude-code-client-metadata';
    served.set(id, {
      client_id: id,
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    await expectRedirects(id, {
      yes: ['http://localhost:54212/callback', 'http://127.0.0.1:1024/callback', 'http://localhost/callback'],
      no: [
        'http://localhost:54212/other',
        'http://localhost:54212/callback/',
        'http://localhost.evil.example:54212/callback',
        'http://localhost:1@evil.example/callback',
        'https://localhost:54212/callback',
        'http://[::1]:54212/callback',
        'https://claude.ai/callback',
      ],
    });
    await expectProof(id);
    await expectGrants(id, 'authorization_code', 'refresh_token');
  });

  it('VS Code: a loopback port that may be taken, and a page of its makers', async () => {
    const id = 'https://vscode.dev/oauth/client-metadata.json';
    served.set(id, {
      client_name: 'Visual Studio Code',
      logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      client_id: id,
      client_uri: 'https://vscode.dev/product',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    });
    await expectRedirects(id, {
      yes: ['http://127.0.0.1:33418/', 'http://127.0.0.1:51515/', 'https://vscode.dev/redirect'],
      no: ['http://127.0.0.1:33418/x', 'https://vscode.dev:444/redirect', 'https://vscode.dev/redirect?x=1'],
    });
    await expectProof(id);
    await expectGrants(id, 'authorization_code', 'refresh_token');
    expect(net.requested.some((url) => url.includes('visualstudio'))).toBe(false);
  });

  describe('ChatGPT: a key of its own behind jwks_uri', () => {
    const id = 'https://chatgpt.com/oauth/client.json';
    const jwksUri = 'https://keys.example/oauth/jwks.json';
    const document = {
      client_id: id,
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      client_name: 'ChatGPT',
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: jwksUri,
    };
    let privateKey: CryptoKey;
    let publicJwk: JWK;
    beforeAll(async () => {
      const pair = await generateKeyPair('RS256');
      privateKey = pair.privateKey;
      publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
    });

    async function assert(key: CryptoKey = privateKey) {
      const assertion = await new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuer(id)
        .setSubject(id)
        .setAudience(as.issuer)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key);
      return as.redeem({
        client_id: id,
        client_assertion: assertion,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      });
    }

    it('proves itself with it, and only with it', async () => {
      served.set(id, document);
      served.set(jwksUri, { keys: [publicJwk] });
      await expectRedirects(id, {
        yes: ['https://chatgpt.com/connector_platform_oauth_redirect'],
        no: ['https://chatgpt.com/connector/oauth/other', 'http://localhost/callback'],
      });
      expect(await assert()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
      const { privateKey: another } = await generateKeyPair('RS256');
      expect(await assert(another)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
      expect(await as.redeem({ client_id: id })).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    });

    it('has its keys fetched as carefully as its document', async () => {
      served.set(id, document);
      served.set(jwksUri, { keys: [publicJwk] });
      net.names.set('keys.example', ['169.254.169.254']);
      net.connected.length = 0;
      expect(await assert()).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
      expect(net.connected.map(({ host }) => host)).toEqual(['chatgpt.com']);
      net.names.clear();
      expect(await assert()).toMatchObject({ json: { error: 'invalid_grant' } });
    });

    it('goes without where its document says none', async () => {
      served.set(id, { ...document, token_endpoint_auth_method: 'none' });
      await expectProof(id);
    });
  });

  it('tells why a document is no good, and does not send the browser anywhere', async () => {
    const id = 'https://client.example/client.json';
    served.set(id, { client_id: id, redirect_uris: ['https://client.example/callback'] });
    expect(await as.authorize(id, 'https://client.example/callback')).toMatchObject({
      status: 400,
      json: { error: 'invalid_client_metadata', error_description: 'client_name is missing or empty' },
      headers: expect.not.objectContaining({ location: expect.anything() }),
    });
    const gone = 'https://client.example/gone.json';
    expect(await as.authorize(gone, 'https://client.example/callback')).toMatchObject({
      status: 503,
      json: { error: 'temporarily_unavailable' },
    });
    // Not `invalid_client`, after which clients forget what they were granted.
    expect(await as.redeem({ client_id: gone })).toMatchObject({
      status: 503,
      json: { error: 'temporarily_unavailable' },
    });
  });
});

describe('clients that register themselves', () => {
  it('Cursor: its own scheme, and called a web application', async () => {
    const { client_id: id, application_type: type } = await register({
      client_name: 'Cursor',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost:8787/callback'],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(type).toBe('native');
    await expectRedirects(String(id), {
      yes: ['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost:8787/callback'],
      no: [
        'cursor://anysphere.cursor-mcp/oauth/other',
        'cursor://evil/oauth/callback',
        'https://localhost:8787/callback',
      ],
    });
    await expectProof(String(id));
    await expectGrants(String(id), 'authorization_code', 'refresh_token');
  });

  it('Cursor in the browser: a page of its makers', async () => {
    const { client_id: id } = await register({
      client_name: 'Cursor',
      redirect_uris: ['https://www.cursor.com/agents/mcp/oauth/callback'],
      token_endpoint_auth_method: 'none',
    });
    await expectRedirects(String(id), {
      yes: ['https://www.cursor.com/agents/mcp/oauth/callback'],
      no: ['https://www.cursor.com:444/agents/mcp/oauth/callback', 'http://www.cursor.com/agents/mcp/oauth/callback'],
    });
    await expectGrants(String(id), 'authorization_code');
  });

  it('VS Code: three redirect URIs at once', async () => {
    const { client_id: id } = await register({
      client_name: 'Visual Studio Code',
      redirect_uris: ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    });
    await expectRedirects(String(id), {
      yes: ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/', 'http://127.0.0.1:49152/'],
      no: ['http://127.0.0.1:33418', 'http://localhost:33418/'],
    });
    await expectGrants(String(id), 'authorization_code', 'refresh_token');
  });

  it('claude.ai: a secret in the body', async () => {
    const { client_id: id, client_secret: given } = await register({
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'claudeai',
    });
    await expectRedirects(String(id), {
      yes: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
      no: ['https://claude.ai.evil.example/api/mcp/auth_callback'],
    });
    await expectProof(String(id), { secret: String(given), by: 'post' });
  });

  it('an SDK that names no method: a secret by HTTP Basic, not form-encoded', async () => {
    const { client_id: id, client_secret: given } = await register({
      redirect_uris: ['http://localhost:3000/callback'],
    });
    expect(await clients.describe(String(id))).toMatchObject({ name: 'Unnamed application' });
    await expectProof(String(id), { secret: String(given), by: 'basic' });
  });

  it('mcp-remote: no application_type, scopes of OpenID', async () => {
    const { client_id: id } = await register({
      client_name: 'MCP CLI Proxy',
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      redirect_uris: ['http://localhost:3334/oauth/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'openid email profile',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      software_version: '0.1.0',
    });
    await expectRedirects(String(id), {
      yes: ['http://localhost:3334/oauth/callback', 'http://localhost:40000/oauth/callback'],
      no: ['http://localhost:3334/oauth/callback?x=1'],
    });
    await expectProof(String(id));
  });

  it('Inspector: a loopback port of its page', async () => {
    const { client_id: id } = await register({
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: '',
      application_type: 'native',
    });
    await expectRedirects(String(id), {
      yes: ['http://localhost:6274/oauth/callback'],
      no: ['http://localhost:6274/'],
    });
    await expectProof(String(id));
  });
});

describe('clients of the configuration', () => {
  it('authenticate with their secret where they have one', async () => {
    await expectRedirects('portal', {
      yes: ['https://client.example/callback'],
      no: ['http://client.example/callback', 'https://client.example/'],
    });
    await expectProof('portal', { secret, by: 'basic' });
    await expectProof('portal', { secret, by: 'post' });
    await expectRedirects('tool', { yes: ['http://127.0.0.1:9999/callback'], no: ['http://localhost/callback'] });
    await expectProof('tool');
    await expectGrants('tool', 'authorization_code', 'refresh_token');
    expect(await clients.describe('portal')).toEqual({ id: 'portal', name: 'Portal', known: 'configuration' });
  });

  it.each([
    ['is registered twice', [registered[0], registered[0]]],
    ['cannot be redirected to javascript:alert(1)', [{ ...registered[1], redirectUris: ['javascript:alert(1)'] }]],
    ['begins like an id', [{ ...registered[1], clientId: 'dcr_x' }]],
    ['begins like an id', [{ ...registered[1], clientId: 'ak_x' }]],
    ['has an id that stands for all API keys', [{ ...registered[1], clientId: 'api-key' }]],
    ['has no name', [{ ...registered[1], clientName: '\u200B' }]],
  ])('stop the start where one %s', (fault, list) => {
    const { clients: config } = authorizationServerSchema.parse({ clients: { registered: list } });
    const create = () =>
      createClients({
        config,
        issuer: 'https://gateway.example',
        repository: store.storage.directory.clients,
        buckets: () => store.storage.directory.buckets,
        now: clock.now,
        logger: recordingLogger().logger,
        caller: () => '',
      });
    expect(create).toThrow(fault);
    expect(create).not.toThrow(secret);
  });
});

describe('what is no client here', () => {
  it.each(['ak_01hzx0000000000000000000aa', 'dcr_01hzx0000000000000000000aa', 'nobody', 'http://client.example/a'])(
    '%s is unknown to the library',
    async (id) => {
      expect(await as.provider.Client.find(id)).toBeUndefined();
      expect(await as.redeem({ client_id: id })).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    },
  );
});
