import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { removeDirectory, startGateway, temporaryDirectory, type RunningGateway } from '../support/gateway.ts';
import { MemoryClient, type MemoryClientOptions } from '../support/oauth-client.ts';
import { createPerson, password } from '../support/people.ts';
import { Person } from '../support/person.ts';

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

const info = { name: 'sightline-test', version: '0.0.0' };
const loopback = 'http://127.0.0.1:41414/callback';
const scopes = 'telemetry:read ingest:read incidents:read chats:read chats:write';

const document = 'https://claude.ai/oauth/claude-code-client-metadata';

/** What each says its id is, too. */
const shapes = {
  'a client that registers itself': { options: { redirectUrl: loopback }, id: /^dcr_/ },
  'a client known by its document': {
    options: { redirectUrl: 'http://localhost:53682/callback', metadataUrl: document },
    id: document,
  },
  'a client known from the configuration': {
    options: { redirectUrl: loopback, information: { client_id: 'backoffice' } },
    id: 'backoffice',
  },
} as const satisfies Readonly<Record<string, { readonly options: MemoryClientOptions; readonly id: string | RegExp }>>;

describe('official clients sign a person in', () => {
  let gateway: RunningGateway;
  let directory = '';
  let endpoint: URL;
  const ada = 'ada@acme.example';

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    const registered = [{ clientId: 'backoffice', clientName: 'Back office', redirectUris: [loopback] }];
    await writeFile(
      config,
      JSON.stringify({ issuer: { clients: { registered, metadataDocuments: { enabled: true } } } }),
    );
    gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
    endpoint = new URL(`${gateway.url}/mcp`);
    await createPerson(gateway, { email: ada, organization: 'acme', role: 'admin' });
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  /** The person follows the client's link to its end. */
  const consent = async (client: MemoryClient): Promise<URL> => {
    const person = new Person(gateway.url);
    await person.signIn(ada, password);
    const page = await person.open(client.destination.href);
    return (await person.press(page, 'Allow')).url;
  };

  const connectV2 = async (oauth: MemoryClient, _fetcher?: Fetch, url = endpoint) => {
    const transport = () => new TransportV2(url, { authProvider: oauth });
    const first = transport();
    const client = new ClientV2(info, { versionNegotiation: { mode: 'auto' } });
    await expect(client.connect(first)).rejects.toThrow(/unauthorized/i);
    await first.finishAuth((await consent(oauth)).searchParams);
    const connected = new ClientV2(info, { versionNegotiation: { mode: 'auto' } });
    await connected.connect(transport());
    return connected;
  };

  const connectV1 = async (oauth: MemoryClient, fetcher: Fetch = fetch, url = endpoint) => {
    const transport = () => new TransportV1(url, { authProvider: oauth, fetch: fetcher });
    const first = transport();
    await expect(new ClientV1(info).connect(first)).rejects.toThrow(/unauthorized/i);
    await first.finishAuth((await consent(oauth)).searchParams.get('code') ?? '');
    const connected = new ClientV1(info);
    await connected.connect(transport());
    return connected;
  };

  describe.each(Object.entries(shapes))('%s', (_name, { options, id }) => {
    it.each([
      ['SDK v1', connectV1],
      ['SDK v2', connectV2],
    ] as const)('with %s, from the first 401 to a tool call', async (_sdk, connect) => {
      const oauth = new MemoryClient(options);
      const client = await connect(oauth);
      const result = await client.callTool({ name: 'list_chats', arguments: {} });
      expect(result.isError ?? false).toBe(false);
      await client.close();
      expect(oauth.asked).toHaveLength(1);
      expect(oauth.destination.searchParams.get('client_id')).toMatch(id);
      expect(decodeJwt(oauth.kept?.access_token ?? '')).toMatchObject({
        kind: 'user',
        aud: endpoint.href,
        scope: scopes,
      });
    });
  });

  describe.each([
    ['localhost', '/mcp'],
    ['localhost', '/mcp/'],
    ['127.0.0.1', '/mcp/'],
  ])('at %s%s, as a person types it,', (host, path) => {
    it('names the resource letter by letter, as strict clients want it', async () => {
      const url = `http://${host}:${endpoint.port}${path}`;
      const { headers } = await fetch(url, { method: 'HEAD' });
      const [, document = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
      expect(document.startsWith(new URL(url).origin)).toBe(true);
      expect(await (await fetch(document)).json()).toMatchObject({
        resource: url,
        authorization_servers: [gateway.url],
      });
    });

    it.each([
      ['SDK v1', connectV1],
      ['SDK v2', connectV2],
    ] as const)('with %s', async (_sdk, connect) => {
      const url = new URL(`http://${host}:${endpoint.port}${path}`);
      const oauth = new MemoryClient({ redirectUrl: loopback });
      const client = await connect(oauth, fetch, url);
      const result = await client.callTool({ name: 'list_chats', arguments: {} });
      expect(result.isError ?? false).toBe(false);
      await client.close();
      expect(decodeJwt(oauth.kept?.access_token ?? '')).toMatchObject({ iss: gateway.url, aud: endpoint.href });
    });
  });

  it('steps up: a call that needs another scope asks for it and succeeds', async () => {
    const oauth = new MemoryClient({ redirectUrl: loopback, scope: 'incidents:read' });
    const transport = new TransportV2(endpoint, { authProvider: oauth });
    await expect(new ClientV2(info).connect(transport)).rejects.toThrow(/unauthorized/i);
    // What a client that wants little asks for.
    const first = new URL(oauth.destination.href);
    first.searchParams.set('scope', 'incidents:read');
    oauth.asked.push(first);
    await transport.finishAuth((await consent(oauth)).searchParams);
    expect(oauth.kept?.scope).toBe('incidents:read');

    const client = new ClientV2(info);
    const second = new TransportV2(endpoint, { authProvider: oauth });
    await client.connect(second);
    await client.callTool({ name: 'list_incidents', arguments: {} });
    await expect(client.callTool({ name: 'list_chats', arguments: {} })).rejects.toThrow(/unauthorized/i);
    expect(new Set(oauth.destination.searchParams.get('scope')?.split(' '))).toEqual(
      new Set(['incidents:read', 'chats:read']),
    );
    await second.finishAuth((await consent(oauth)).searchParams);
    const result = await client.callTool({ name: 'list_chats', arguments: {} });
    expect(result.isError ?? false).toBe(false);
    await client.close();
  });

  /**
   * SDK v1 remembers for its whole transport that it has just had a new token, and takes any 401 after that for a refusal of
   * it: also one to a call that was sent before. So no token is answered until each call has had its 401.
   */
  const tokensAfter = (refusals: number) => {
    let refused = 0;
    const all = Promise.withResolvers<void>();
    const fetcher: Fetch = async (input, init) => {
      if (init?.body instanceof URLSearchParams && init.body.get('grant_type') === 'refresh_token') await all.promise;
      const response = await fetch(input, init);
      if (response.status === 401) refused += 1;
      if (refused >= refusals) all.resolve();
      return response;
    };
    return { fetcher, forget: () => (refused = 0) };
  };

  it.each([
    ['SDK v1', connectV1],
    ['SDK v2', connectV2],
  ] as const)(
    '%s: six calls at once on an expired token end in six successes and no browser',
    async (_sdk, connect) => {
      const oauth = new MemoryClient({ redirectUrl: loopback });
      const { fetcher, forget } = tokensAfter(6);
      const client = await connect(oauth, fetcher);
      forget();
      const kept = oauth.kept;
      if (kept === undefined) throw new Error('no tokens');
      oauth.saveTokens({ ...kept, access_token: `${kept.access_token.slice(0, -6)}AAAAAA` });
      const calls = Array.from({ length: 6 }, () => client.callTool({ name: 'list_chats', arguments: {} }));
      const results = await Promise.all(calls);
      expect(results.map(({ isError }) => isError ?? false)).toEqual(Array.from({ length: 6 }, () => false));
      expect(oauth.asked).toHaveLength(1);
      await client.close();
    },
  );
});
