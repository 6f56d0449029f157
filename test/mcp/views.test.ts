import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { echoTool, writeTool } from '../support/fixture-tools.ts';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';
import { rawRequest } from '../support/raw-http.ts';

/* MCP Apps (SEP-1865): how hosts learn of the view and read it, in both eras. */

const html = '<!doctype html><title>View</title>';
const extension = 'io.modelcontextprotocol/ui';
const version = '2026-07-28';

let server: TestServer;
let without: TestServer;
beforeAll(async () => {
  const tools = [echoTool, writeTool];
  server = await startMcpServer({ tools, view: { html, tools: ['echo'] } });
  without = await startMcpServer({ tools });
});
afterAll(() => Promise.all([server.stop(), without.stop()]));

type Fields = Readonly<Record<string, unknown>>;

async function post(to: TestServer, body: Fields, headers: Readonly<Record<string, string>> = {}) {
  const common = {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${await to.mint()}`,
  };
  return rawRequest(to.url, {
    headers: { ...common, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
}

const legacy = (method: string, params: Fields = {}, to = server) => post(to, { method, params });

function modern(method: string, params: Fields = {}, about: Fields = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...about,
  };
  const named = typeof params['uri'] === 'string' ? { 'mcp-name': params['uri'] } : {};
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, ...named };
  return post(server, { method, params: { _meta, ...params } }, headers);
}

/** Both eras, by the way in which a client says who it is. */
const greetings = {
  async legacy(name: string, capabilities: Fields): Promise<unknown> {
    const clientInfo = { name, version: '1' };
    return (await legacy('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })).json;
  },
  async modern(name: string, capabilities: Fields): Promise<unknown> {
    const about = {
      'io.modelcontextprotocol/clientInfo': { name, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    return (await modern('server/discover', {}, about)).json;
  },
} as const;

const shows = { extensions: { [extension]: { mimeTypes: ['text/html;profile=mcp-app'] } } };

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it('is told of the extension, and of resources unless its model could read them and nobody would see them', async () => {
    const told = (name: string, capabilities: Fields = {}) => greetings[era](name, capabilities);
    const both = { tools: {}, resources: {}, extensions: { [extension]: {} } };
    const bare = { tools: {}, extensions: { [extension]: {} } };
    const expected = (capabilities: Fields) => ({ result: expect.objectContaining({ capabilities }) });
    for (const name of ['Visual Studio Code', 'claude-ai', 'opencoder']) {
      expect(await told(name)).toMatchObject(expected(both));
    }
    for (const name of ['claude-code', 'gemini-cli-mcp-client', 'opencode', 'opencode (via mcp-remote 0.15.1)']) {
      expect(await told(name)).toMatchObject(expected(bare));
      expect(await told(name, shows)).toMatchObject(expected(both));
    }
  });
});

const listed = z.object({
  result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string(), _meta: z.looseObject({}).optional() })) }),
});

const content = z.strictObject({
  uri: z.string(),
  mimeType: z.literal('text/html;profile=mcp-app'),
  text: z.literal(html),
  _meta: z.looseObject({}),
});
const read = z.object({ result: z.looseObject({ contents: z.tuple([content]) }) });

const policy = {
  ui: { csp: { connectDomains: [], resourceDomains: [] } },
  'openai/widgetCSP': { connect_domains: [], resource_domains: [] },
};

describe.each([
  ['legacy', legacy],
  ['modern', modern],
] as const)('in the %s era', (era, send) => {
  const uriOf = async (): Promise<string> => {
    const { tools } = listed.parse((await send('tools/list')).json).result;
    const [echo, write] = tools;
    expect(write).not.toHaveProperty('_meta');
    return z.string().parse(echo && getToolUiResourceUri({ _meta: echo._meta }));
  };

  it('the view is listed as its tool names it, with a policy that allows nothing', async () => {
    const uri = await uriOf();
    const { json } = await send('resources/list');
    expect(json).toMatchObject({
      result: { resources: [{ uri, mimeType: 'text/html;profile=mcp-app', _meta: policy }] },
    });
    const kept = era === 'modern' ? { ttlMs: expect.any(Number), resultType: 'complete' } : {};
    expect(json).toMatchObject({ result: kept });
    expect((await send('resources/templates/list')).json).toMatchObject({ result: { resourceTemplates: [] } });
  });

  it('it is read, also by the name that it had yesterday', async () => {
    for (const uri of [await uriOf(), 'ui://sightline/00000000', 'ui://sightline/view-1.html']) {
      const [found] = read.parse((await send('resources/read', { uri })).json).result.contents;
      expect(found).toEqual({ uri, mimeType: 'text/html;profile=mcp-app', text: html, _meta: policy });
    }
  });

  it.each([['ui://elsewhere/1'], ['file:///etc/passwd'], [`ui://sightline/${'a'.repeat(300)}`]])(
    'there is no %s',
    async (uri) => {
      const code = era === 'modern' ? -32602 : -32002;
      expect((await send('resources/read', { uri })).json).toMatchObject({ error: { code } });
    },
  );
});

describe('without a view', () => {
  it('nothing is told, listed or read', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: shows, clientInfo: { name: 'x', version: '1' } };
    const { json } = await legacy('initialize', params, without);
    expect(json).toMatchObject({ result: expect.objectContaining({ capabilities: { tools: {} } }) });
    expect((await legacy('tools/list', {}, without)).text).not.toContain('ui://');
    expect((await legacy('resources/list', {}, without)).json).toMatchObject({ result: { resources: [] } });
    expect((await legacy('resources/read', { uri: 'ui://sightline/1' }, without)).json).toMatchObject({
      error: { code: -32601 },
    });
  });
});

describe('official clients', () => {
  const info = { name: 'test', version: '1' };

  it('of 2025 read the view', async () => {
    const client = new ClientV1(info);
    const requestInit = { headers: { authorization: `Bearer ${await server.mint()}` } };
    await client.connect(new TransportV1(new URL(server.url), { requestInit }));
    const [{ uri } = { uri: '' }] = (await client.listResources()).resources;
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: html }]);
    await client.close();
  });

  it('of 2026 read the view', async () => {
    const client = new ClientV2(info, { versionNegotiation: { mode: { pin: version } } });
    const requestInit = { headers: { authorization: `Bearer ${await server.mint()}` } };
    await client.connect(new TransportV2(new URL(server.url), { requestInit }));
    const [{ uri } = { uri: '' }] = (await client.listResources()).resources;
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: html }]);
    await client.close();
  });
});
