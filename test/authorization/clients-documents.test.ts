import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClients, type Clients } from '../../src/identity/issue/clients/index.ts';
import type { Network } from '../../src/identity/issue/clients/document-fetch.ts';
import { authorizationServerSchema } from '../../src/contract/issuer/index.ts';
import { type ClientRepository } from '../../src/contract/storage/index.ts';
import { recordingLogger, stoppedClock, testInternet, type Internet } from './clients-support.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const empty: ClientRepository = {
  register: async () => false,
  find: async () => undefined,
  markUsed: async () => {},
};

const nothingCounted = async () => new Map<string, Date>();

let net: Internet;
beforeAll(async () => {
  net = await testInternet();
});
afterAll(() => net.close());
beforeEach(() => {
  net.names.clear();
  net.resolved.length = net.connected.length = net.requested.length = 0;
});

function room(metadataDocuments: object = {}, registration: object = {}, network: Network = net) {
  const clock = stoppedClock();
  const { logger, lines } = recordingLogger();
  const clients = createClients({
    config: authorizationServerSchema.parse({ clients: { metadataDocuments, registration } }).clients,
    issuer: 'https://gateway.example',
    repository: empty,
    buckets: () => ({ read: nothingCounted, pour: nothingCounted }),
    now: clock.now,
    logger,
    caller: () => '198.51.100.7',
    network,
  });
  return { clients, clock, lines };
}

const id = 'https://client.example/client.json';
const good = {
  client_id: id,
  client_name: 'Example',
  redirect_uris: ['https://client.example/callback'],
  token_endpoint_auth_method: 'none',
};

function serve(document: unknown, headers: Record<string, string> = {}): void {
  net.serve = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(typeof document === 'string' ? document : JSON.stringify(document));
  };
}

function fail(status: number): void {
  net.serve = (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
}

async function fetches(clients: Clients, of: string = id): Promise<number> {
  const before = net.requested.length;
  await clients.find(of).catch(() => {});
  return net.requested.length - before;
}

describe('a client metadata document', () => {
  it('makes a client of what it says about itself, and of nothing else it says', async () => {
    serve({
      ...good,
      scope: 'admin',
      grant_types: [
        'authorization_code',
        'client_credentials',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code', 'token'],
      application_type: 'native',
      org: 'org_of_another',
      'urn:sightline:organization': 'org_of_another',
      logo_uri: 'https://client.example/logo.svg',
      post_logout_redirect_uris: ['https://evil.example/'],
      sector_identifier_uri: 'https://evil.example/sector.json',
      request_uris: ['https://evil.example/request'],
      require_auth_time: true,
      default_max_age: 1,
    });
    const { clients } = room();
    expect(await clients.find(id)).toEqual({
      client_id: id,
      client_name: 'Example',
      application_type: 'web',
      redirect_uris: ['https://client.example/callback'],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    expect(await clients.describe(id)).toEqual({ id, name: 'Example', known: 'document', host: 'client.example' });
  });

  it('is of a client without a secret where it does not say how the client proves itself', async () => {
    serve({ ...good, token_endpoint_auth_method: undefined });
    await expect(room().clients.find(id)).resolves.toMatchObject({ token_endpoint_auth_method: 'none' });
  });

  it('may hold its public keys itself, of which only what a signature needs is kept', async () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'one' };
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const document = { ...good, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...key, deep: 0 }] } };
    serve(JSON.stringify(document).replace('"deep":0', `"deep":${deep}`));
    await expect(room().clients.find(id)).resolves.toMatchObject({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key] },
    });
  });

  it('has none of its redirect URIs used to which an answer must not go', async () => {
    const bad = ['javascript:alert(1)', 'http://client.example/', 'https://client.example/#', 'data:text/html,x'];
    serve({ ...good, redirect_uris: [...bad, 'http://127.0.0.1/callback'] });
    await expect(room().clients.find(id)).resolves.toMatchObject({
      redirect_uris: ['http://127.0.0.1/callback'],
      application_type: 'native',
    });
    serve({ ...good, redirect_uris: bad });
    await expect(room().clients.find(id)).rejects.toMatchObject({ error: 'invalid_redirect_uri' });
  });

  it('has a name that is shown in one line and cannot turn the line around', async () => {
    serve({ ...good, client_name: '  Good\n\tname \u202Eevil\u2066\u0000 ' + 'x'.repeat(200) });
    const name = (await room().clients.find(id))?.client_name ?? '';
    expect(name).toMatch(/^Good name evil x+$/);
    expect(name).toHaveLength(100);
  });

  it.each([
    ['is another document’s', { ...good, client_id: 'https://client.example/other.json' }, /^client_id/],
    [
      'has its own id otherwise written',
      { ...good, client_id: 'https://client.example:443/client.json' },
      /^client_id/,
    ],
    ['has no id', { ...good, client_id: undefined }, /^client_id/],
    ['has no name', { ...good, client_name: undefined }, /^client_name/],
    ['has a name of nothing that can be seen', { ...good, client_name: '\u200B\u202E ' }, /^client_name/],
    ['has no redirect URIs', { ...good, redirect_uris: undefined }, /^redirect_uris/],
    ['has an empty list of redirect URIs', { ...good, redirect_uris: [] }, /^redirect_uris/],
    ['has redirect URIs that are none', { ...good, redirect_uris: [42] }, /^redirect_uris/],
    ['holds a secret', { ...good, client_secret: 'public' }, /client_secret/],
    [
      'wants to authenticate with a shared secret',
      { ...good, token_endpoint_auth_method: 'client_secret_post' },
      /^token_endpoint_auth_method/,
    ],
    [
      'wants to authenticate by an unknown method',
      { ...good, token_endpoint_auth_method: 'magic' },
      /^token_endpoint_auth_method/,
    ],
    [
      'wants to authenticate with a key it does not show',
      { ...good, token_endpoint_auth_method: 'private_key_jwt' },
      /needs jwks/,
    ],
    [
      'has its keys where nothing is fetched',
      { ...good, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://127.0.0.1/jwks.json' },
      /^jwks_uri/,
    ],
    [
      'shows its private key to everyone',
      {
        ...good,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }] },
      },
      /^jwks/,
    ],
    ['cannot use codes', { ...good, response_types: ['token'] }, /^response_types/],
    ['wants only another grant', { ...good, grant_types: ['client_credentials'] }, /^grant_types/],
    ['is a list', [good], /JSON object/],
    ['is null', null, /JSON object/],
    ['is no JSON', '{', /not JSON/],
  ])('is refused, and the reason told, when it %s', async (_what, document, reason) => {
    serve(document);
    const { clients } = room();
    await expect(clients.find(id)).rejects.toMatchObject({
      status: 400,
      error: expect.stringMatching(/^invalid_(?:client_metadata|redirect_uri)$/),
      error_description: expect.stringMatching(reason),
    });
    expect(await fetches(clients)).toBe(0);
  });

  it('cannot be had: the answer is the same whatever the reason, which only the log tells', async () => {
    const answers: unknown[] = [];
    for (const prepare of [
      () => net.names.set('client.example', ['10.0.0.1']),
      () => net.names.set('client.example', []),
      () => net.names.delete('client.example') && fail(500),
      () => fail(404),
    ]) {
      prepare();
      const { clients, lines } = room();
      answers.push(await clients.find(id).catch((error: object) => ({ ...error })));
      expect(lines).toEqual([
        expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ clientId: id }) }),
      ]);
    }
    const [first] = answers;
    expect(first).toMatchObject({ status: 503, error: 'temporarily_unavailable', expose: true });
    expect(answers).toEqual(answers.map(() => first));
  });
});

describe('what is kept of documents', () => {
  it.each([
    ['nothing', {}, 5 * minute],
    ['less than five minutes', { 'cache-control': 'max-age=1' }, 5 * minute],
    ['that it must not be kept', { 'cache-control': 'no-store' }, 5 * minute],
    ['an hour', { 'cache-control': 'public, max-age=3600' }, hour],
    ['an hour by the clock', { expires: new Date(Date.UTC(2026, 10, 21, 1)).toUTCString() }, hour],
    ['a year', { 'cache-control': 'max-age=31536000' }, day],
  ])('is kept as the host says, between five minutes and a day: %s', async (_what, headers, lifetime) => {
    serve(good, headers);
    const { clients, clock } = room();
    expect(await fetches(clients)).toBe(1);
    clock.advance(lifetime - 1);
    expect(await fetches(clients)).toBe(0);
    clock.advance(1);
    expect(await fetches(clients)).toBe(1);
  });

  it('is fetched once for all who ask at once', async () => {
    serve(good);
    const { clients } = room();
    const found = await Promise.all(Array.from({ length: 20 }, () => clients.find(id)));
    expect(new Set(found).size).toBe(1);
    expect(net.requested).toHaveLength(1);
  });

  it('outlives an outage of its host by a day, and no longer', async () => {
    serve(good);
    const { clients, clock } = room();
    await clients.find(id);
    fail(503);
    clock.advance(5 * minute);
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id });
    expect(await fetches(clients)).toBe(0);
    clock.advance(day - minute);
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id });
    clock.advance(2 * minute);
    await expect(clients.find(id)).rejects.toMatchObject({ error: 'temporarily_unavailable' });
  });

  it.each([
    ['withdrawn', () => fail(404)],
    ['another’s', () => serve({ ...good, client_id: 'https://client.example/other.json' })],
  ])('is forgotten once the document is %s', async (_what, change) => {
    serve(good);
    const { clients, clock } = room();
    await clients.find(id);
    change();
    clock.advance(5 * minute);
    await expect(clients.find(id)).rejects.toMatchObject({ expose: true });
    await expect(clients.find(id)).rejects.toMatchObject({ expose: true });
    fail(503);
    clock.advance(minute);
    await expect(clients.find(id)).rejects.toMatchObject({ error: 'temporarily_unavailable' });
  });

  it('takes what has changed', async () => {
    serve(good);
    const { clients, clock } = room();
    await clients.find(id);
    serve({ ...good, redirect_uris: ['https://client.example/new'] });
    clock.advance(5 * minute);
    await expect(clients.find(id)).resolves.toMatchObject({ redirect_uris: ['https://client.example/new'] });
  });

  it('remembers a failure for a minute', async () => {
    fail(500);
    const { clients, clock } = room();
    expect(await fetches(clients)).toBe(1);
    expect(await fetches(clients)).toBe(0);
    serve(good);
    clock.advance(minute);
    expect(await fetches(clients)).toBe(1);
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id });
  });

  it('does not let one caller’s flood be a client’s failure', async () => {
    net.serve = (_request, response) => response.writeHead(500).end();
    const { clients, clock, lines } = room();
    for (let index = 0; index < 30; index += 1) {
      await clients.find(`https://client.example/${index}`).catch(() => {});
    }
    serve(good);
    const logged = () => lines.filter(({ level }) => level !== 'debug').length;
    const before = logged();
    await expect(clients.find(id)).rejects.toMatchObject({ error: 'temporarily_unavailable' });
    expect(logged()).toBe(before);
    clock.advance(3_000);
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id });
  });

  it('is bounded: what was asked for longest ago is fetched again', async () => {
    net.serve = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=86400' });
      response.end(JSON.stringify({ ...good, client_id: `https://client.example${request.url}` }));
    };
    const { clients, clock } = room();
    const ask = (index: number) => {
      clock.advance(3_000);
      return fetches(clients, `https://client.example/${index}`);
    };
    const first = 0;
    const second = 1;
    for (let index = 0; index < 200; index += 1) expect(await ask(index)).toBe(1);
    expect(await ask(first)).toBe(0);
    expect(await ask(200)).toBe(1);
    expect([await ask(first), await ask(200), await ask(second)]).toEqual([0, 0, 1]);
  });
});

describe('the copies that are shipped', () => {
  const claudeCode = 'https://claude.ai/oauth/claude-code-client-metadata';

  it.each([
    [claudeCode, 'Claude Code', ['http://localhost/callback', 'http://127.0.0.1/callback']],
    [
      'https://vscode.dev/oauth/client-metadata.json',
      'Visual Studio Code',
      ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    ],
    [
      'https://chatgpt.com/oauth/codex/client.json',
      'Codex',
      ['http://127.0.0.1/callback', 'http://localhost/callback'],
    ],
    [
      'https://opencode.ai/oauth/opencode/client.json',
      'opencode',
      ['http://127.0.0.1/callback', 'http://localhost/callback', 'http://127.0.0.1/mcp/oauth/callback'],
    ],
    ['https://zed.dev/oauth/client-metadata.json', 'Zed', ['http://127.0.0.1/callback']],
  ])('stand in for %s while it cannot be had, and the log says so', async (of, name, redirectUris) => {
    fail(403);
    const { clients, clock, lines } = room();
    await expect(clients.find(of)).resolves.toMatchObject({
      client_id: of,
      client_name: name,
      application_type: 'native',
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'A client metadata document cannot be had; the copy that is shipped is used.'],
    ]);
    const asked = net.resolved.length;
    await clients.find(of);
    expect(net.resolved).toHaveLength(asked);
    clock.advance(minute);
    await clients.find(of);
    expect(net.resolved).toHaveLength(asked + 1);
  });

  it('stand in for Goose’s, which wants no refresh token', async () => {
    fail(403);
    await expect(room().clients.find('https://goose-docs.ai/oauth/client-metadata.json')).resolves.toMatchObject({
      client_name: 'Goose',
      redirect_uris: ['http://localhost/oauth_callback'],
      grant_types: ['authorization_code'],
    });
  });

  it('give way to the document itself', async () => {
    serve({ ...good, client_id: claudeCode, client_name: 'Claude Code 2' });
    const { clients } = room();
    await expect(clients.find(claudeCode)).resolves.toMatchObject({ client_name: 'Claude Code 2' });
  });

  it('stand in for nothing that the configuration leaves out', async () => {
    fail(403);
    await expect(room({ allowedHosts: ['vscode.dev'] }).clients.find(claudeCode)).resolves.toBeUndefined();
  });
});

describe('the configuration of documents', () => {
  it('switches them off: a URL is no client, nothing is fetched, the metadata is silent', async () => {
    serve(good);
    const off = room({ enabled: false }).clients;
    expect([await off.find(id), await off.describe(id)]).toEqual([undefined, undefined]);
    expect(net.resolved).toEqual([]);
    expect(await off.metadata()).not.toHaveProperty('client_id_metadata_document_supported');
    expect(net.resolved).toEqual([]);
  });

  const offers = async ({ metadata }: Clients) => (await metadata())['client_id_metadata_document_supported'] === true;
  const noWayOut = () => {
    for (const host of ['claude.ai', 'vscode.dev', 'chatgpt.com', 'opencode.ai', 'zed.dev', 'goose-docs.ai']) {
      net.names.set(host, []);
    }
  };

  it('by default offers them where there is a way out to fetch them', async () => {
    serve(good);
    const { clients, clock, lines } = room();
    expect(net.resolved).toEqual([]);
    expect(await offers(clients)).toBe(true);
    const asked = net.resolved.length;
    expect(asked).toBeGreaterThan(0);
    clock.advance(9 * minute);
    expect(await offers(clients)).toBe(true);
    expect(net.resolved).toHaveLength(asked);
    noWayOut();
    clock.advance(minute);
    expect(await Promise.all([offers(clients), offers(clients)])).toEqual([false, false]);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['info', expect.stringContaining('clients are told to register themselves')],
    ]);
    await expect(clients.find('https://chatgpt.com/oauth/codex/client.json')).resolves.toMatchObject({
      client_name: 'Codex',
    });
    net.names.clear();
    clock.advance(10 * minute);
    expect(await offers(clients)).toBe(true);
  });

  it.each([
    ['says so', { enabled: true }, {}],
    ['lets nobody register', {}, { enabled: false }],
    ['lists hosts of its own', { allowedHosts: ['client.example'] }, {}],
  ])('offers them anyway, and asks nobody, where it %s', async (_what, documents, registration) => {
    noWayOut();
    expect(await offers(room(documents, registration).clients)).toBe(true);
    expect(net.resolved).toEqual([]);
  });

  it('does not keep a client waiting where packets vanish', async () => {
    const silent = { ...net, resolve: () => new Promise<never>(() => {}) };
    const { clients } = room({}, {}, silent);
    expect(await offers(clients)).toBe(false);
  });

  it('pins documents: each is taken as it stands there, and its host is asked nothing', async () => {
    fail(500);
    const { clients } = room({ allowedHosts: ['vscode.dev'], pinned: [good] });
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id, client_name: 'Example' });
    expect(await clients.describe(id)).toMatchObject({ known: 'document', host: 'client.example' });
    expect(net.resolved).toEqual([]);
  });

  it.each([
    ['without a name', { ...good, client_name: '' }, /client_name is missing/],
    ['of an id that is no document’s', { ...good, client_id: 'https://CLIENT.example/x' }, /not the URL of a document/],
    ['with a secret', { ...good, client_secret: 'x' }, /must not hold a client_secret/],
    ['that leads nowhere', { ...good, redirect_uris: ['http://elsewhere.example/'] }, /redirect_uris/],
  ])('refuses at the start a pinned document %s', (_what, document, message) => {
    expect(() => room({ pinned: [document] })).toThrow(message);
  });

  it('lists hosts: others’ documents are no clients and nothing is asked about them', async () => {
    serve(good);
    const { clients } = room({ allowedHosts: ['client.example'] });
    await expect(clients.find(id)).resolves.toMatchObject({ client_id: id });
    net.resolved.length = 0;
    expect(await clients.find('https://evil.example/client.json')).toBeUndefined();
    expect(net.resolved).toEqual([]);
  });

  it.each(['ak_01hzx0000000000000000000aa', 'dcr_01hzx0000000000000000000aa', 'HTTPS://client.example/a', '', 'x'])(
    'knows nothing of %s',
    async (other) => {
      expect(await room().clients.find(other)).toBeUndefined();
      expect(net.resolved).toEqual([]);
    },
  );
});
