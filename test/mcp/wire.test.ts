import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { conformanceTools, echoTool, writeTool } from '../support/fixture-tools.ts';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';
import { rawRequest, readEvents, type RawAnswer, type RawRequest } from '../support/raw-http.ts';

const served = [echoTool, writeTool, ...conformanceTools];

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startMcpServer({ tools: served });
  token = await server.mint(['telemetry:read']);
});
afterAll(() => server.stop());

type Headers = Readonly<Record<string, string>>;

const listing = z.looseObject({ result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }) });
const listed = (json: unknown) => listing.parse(json).result.tools;

const version = '2026-07-28';
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
};

function send({ headers = {}, ...rest }: RawRequest): Promise<RawAnswer> {
  const common = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return rawRequest(server.url, { ...rest, headers: { ...common, ...headers } });
}

const legacy = (method: string, params: object = {}, headers: Headers = {}, id: unknown = 1) =>
  send({ headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) });

function modern(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string | undefined>> = {},
) {
  const all = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}),
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return send({
    headers: sent,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: envelope, ...params } }),
  });
}

describe('the plain curl of the specification', () => {
  it('lists the tools as JSON without initialize and without a version header', async () => {
    const answer = await legacy('tools/list');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: 1 });
    expect(listed(answer.json).map(({ name }) => name)).toEqual(served.map(({ name }) => name));
    expect(answer.text).not.toContain('resultType');
  });

  it.each([
    ['*/*', 200, 'application/json'],
    ['application/json', 200, 'application/json'],
    ['application/*;q=0.5', 200, 'application/json'],
    ['text/event-stream', 200, 'text/event-stream'],
    ['application/json;q=0, text/event-stream', 200, 'text/event-stream'],
    ['text/html', 406, 'application/json'],
  ])('answers Accept: %s', async (accept, status, type) => {
    const answer = await legacy('tools/list', {}, { accept });
    expect([answer.status, answer.headers['content-type']]).toEqual([status, type]);
    if (type === 'text/event-stream') {
      const [event, ...more] = readEvents(answer.text);
      expect(listed(event)).toHaveLength(served.length);
      expect(more).toEqual([]);
      expect(answer.headers['x-accel-buffering']).toBe('no');
    }
  });

  it('takes a request without Accept', async () => {
    const answer = await rawRequest(server.url, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":"a","method":"ping"}',
    });
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 'a', result: {} });
  });
});

describe('tool schemas', () => {
  it('says what a strict input takes and nothing nobody meant', async () => {
    const { json } = await legacy('tools/list');
    expect(listed(json)[0]).toMatchObject({
      name: 'echo',
      title: 'Echo',
      inputSchema: {
        type: 'object',
        required: ['text'],
        additionalProperties: false,
        properties: { times: { type: 'integer', minimum: 1, maximum: 10 } },
      },
      outputSchema: { type: 'object', properties: { times: { type: 'integer' } } },
      annotations: { readOnlyHint: true },
    });
    const text = JSON.stringify(json);
    expect(text).not.toContain('9007199254740991');
    expect(text.match(/\$schema/g)).toHaveLength(1);
  });

  it('has the caching hints in the 2026 era alone', async () => {
    const { json } = await modern('tools/list');
    expect(json).toMatchObject({
      result: {
        ttlMs: expect.any(Number),
        cacheScope: 'private',
        resultType: 'complete',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sightline-test', version: '0.0.0' } },
      },
    });
  });
});

describe('HTTP', () => {
  it.each(['GET', 'DELETE', 'PUT', 'PATCH'])(
    'answers %s with 405 and Allow, but first asks who it is',
    async (method) => {
      const stranger = await rawRequest(server.url, { method });
      expect(stranger.status).toBe(401);
      expect(stranger.headers['www-authenticate']).toContain('resource_metadata=');
      const answer = await send({ method });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
      expect(answer.json).toEqual({ jsonrpc: '2.0', error: { code: 405, message: 'Only POST is served here.' } });
    },
  );

  it.each([
    ['text/plain', undefined],
    ['application/x-www-form-urlencoded', undefined],
    ['application/json; charset=latin1', undefined],
    ['application/json-seq', undefined],
    ['application/json', 'gzip'],
  ])('refuses Content-Type %s, Content-Encoding %s', async (type, encoding) => {
    const headers = { 'content-type': type, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) };
    expect((await legacy('ping', {}, headers)).status).toBe(415);
  });

  it('takes a charset of UTF-8', async () => {
    for (const charset of ['"UTF-8"', 'utf8', 'utf-8']) {
      const headers = { 'content-type': `Application/JSON; charset=${charset}` };
      expect((await legacy('ping', {}, headers)).status).toBe(200);
    }
  });

  it.each([
    [{ host: 'evil.example' }],
    [{ host: '127.0.0.1.evil.example' }],
    [{ host: '127.0.0.1:80:80' }],
    [{ origin: 'http://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1.evil.example' }],
  ])('refuses %j with a JSON-RPC error without id', async (headers) => {
    const answer = await legacy('ping', {}, headers);
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { code: 403 } });
    expect(answer.json).not.toHaveProperty('id');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('names the setting where a Host is refused, to the caller and once in the log', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      const { json } = await legacy('ping', {}, { host: 'host.docker.internal' });
      expect(json).toMatchObject({ error: { data: { hint: expect.stringContaining('allowedHosts') } } });
    }
    const lines = server.logger.lines.filter(({ fields }) => fields['host'] === 'host.docker.internal');
    expect(lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('allowedHosts') }]);
  });

  it('lets an allowed browser origin in, on preflight and on the call', async () => {
    const preflight = await rawRequest(server.url, {
      method: 'OPTIONS',
      headers: { origin: server.origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers['access-control-allow-origin']).toBe(server.origin);
    expect(preflight.headers['access-control-allow-methods']).toBe('POST, DELETE');
    for (const name of [
      'Authorization',
      'Content-Type',
      'MCP-Protocol-Version',
      'Mcp-Method',
      'Mcp-Name',
      'Mcp-Param-Region',
    ]) {
      expect(preflight.headers['access-control-allow-headers']).toContain(name);
    }
    const answer = await legacy('ping', {}, { origin: server.origin });
    expect(answer.headers['access-control-allow-origin']).toBe(server.origin);
    expect(answer.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
    expect(answer.headers.vary).toBe('Origin');
    const refused = await rawRequest(server.url, { headers: { origin: server.origin } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, server.origin]);
  });
});

describe('who is asking', () => {
  const metadata = (): string => `resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;

  it('challenges without an error where no token was sent', async () => {
    const answer = await rawRequest(server.url, { body: '{"jsonrpc":"2.0"' });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer scope="telemetry:read ingest:read incidents:read chats:read chats:write", ${metadata()}`,
    );
  });

  it.each([
    ['a wrong token', 'Bearer abc.def.ghi'],
    ['an opaque token', 'Bearer secret'],
  ])('says invalid_token for %s', async (_name, authorization) => {
    const answer = await legacy('ping', {}, { authorization });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(answer.json).toMatchObject({ error: { code: 401, data: { code: 'invalid_token' } } });
  });

  it.each(['Basic abc', 'Bearer', 'Bearer a b', 'token', 'Bearer ä'])(
    'refuses Authorization: %s',
    async (authorization) => {
      expect((await legacy('ping', {}, { authorization: Buffer.from(authorization).toString('latin1') })).status).toBe(
        401,
      );
    },
  );

  it('tells an API key from a token, and to exchange it', async () => {
    const answer = await legacy('ping', {}, { authorization: `Bearer aks_${'A'.repeat(43)}` });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({
      error: { message: expect.stringContaining('API key'), data: { hint: expect.stringContaining('/oauth2/token') } },
    });
  });

  it('never reads a token from the query', async () => {
    const answer = await rawRequest(`${server.url}?access_token=${token}`, { body: '{}' });
    expect(answer.status).toBe(401);
  });

  it.each(['2026', '2025'])('answers a call outside the scopes with 403 and the scope to ask for (%s)', async (era) => {
    const params = { name: 'write_note', arguments: {} };
    const answer = await (era === '2026' ? modern('tools/call', params) : legacy('tools/call', params));
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer error="insufficient_scope", scope="chats:write", ${metadata()}`,
    );
    expect(answer.json).toMatchObject({ id: 1, error: { data: { code: 'insufficient_scope', scope: 'chats:write' } } });
  });
});

describe('JSON-RPC', () => {
  it.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700],
    ['an empty batch', '[]', -32600],
    ['a string', '"ping"', -32600],
    ['null', 'null', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a numeric method', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
    ['an id beyond the safe integers', '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32600],
    ['an infinite id', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32600],
    ['a huge id', `{"jsonrpc":"2.0","id":"${'x'.repeat(257)}","method":"ping"}`, -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['positional params', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600],
    ['a _meta that is no object', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}', -32602],
  ])('refuses %s', async (_name, body, code) => {
    const answer = await send({ body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it.each([0, -1, '', 'ü"\\', 9_007_199_254_740_991])('gives the id %j back as it was', async (id) => {
    expect((await legacy('ping', {}, {}, id)).json).toEqual({ jsonrpc: '2.0', id, result: {} });
  });

  it('answers invalid UTF-8 with a parse error', async () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"p\xffing"}', 'latin1');
    expect((await send({ body })).json).toMatchObject({
      error: { code: -32700, message: 'The body is not valid UTF-8.' },
    });
  });

  it('accepts notifications without a body', async () => {
    const answer = await send({ body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
    expect([answer.status, answer.text]).toEqual([202, '']);
  });
});

describe('a batch of 2025-03-26', () => {
  const batch = (messages: readonly object[], headers: Headers = {}) =>
    send({ headers, body: JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message }))) });
  const messages = [
    { id: 1, method: 'ping' },
    { method: 'notifications/initialized' },
    { id: 'two', method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } },
    { id: 3, method: 'no/such' },
    { id: 4, method: 'tools/list' },
  ];

  it.each([undefined, '2025-03-26', '2024-11-05'])('has one answer for each request (%s)', async (named) => {
    const answer = await batch(messages, named === undefined ? {} : { 'mcp-protocol-version': named });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject([
      { id: 1, result: {} },
      { id: 'two', result: { structuredContent: { text: 'a' } } },
      { id: 3, error: { code: -32601 } },
      { id: 4, result: { tools: expect.any(Array) } },
    ]);
  });

  it('has none where it holds notifications alone', async () => {
    const answer = await batch([{ method: 'notifications/initialized' }]);
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  it.each(['2025-06-18', '2025-11-25', version])('is refused in %s, which has none', async (named) => {
    const answer = await batch(messages, { 'mcp-protocol-version': named });
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  it('has an end', async () => {
    const answer = await batch(Array.from({ length: 21 }, (_, id) => ({ id, method: 'ping' })));
    expect([answer.status, answer.json]).toMatchObject([400, { error: { message: expect.stringContaining('20') } }]);
  });

  it('counts each of its calls against the rate', async () => {
    const limited = await startMcpServer({ tools: served, rate: { perMinute: 1, burst: 2 } });
    try {
      const bearer = await limited.mint(['telemetry:read']);
      const { json } = await rawRequest(limited.url, {
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify([1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
      });
      expect(json).toMatchObject([{ result: {} }, { result: {} }, { error: { data: { code: 'rate_limited' } } }]);
    } finally {
      await limited.stop();
    }
  });
});

describe('2025 era', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2026-07-28', '2025-11-25'],
    ['nonsense', '2025-11-25'],
  ])('negotiates %s to %s', async (requested, agreed) => {
    const answer = await legacy('initialize', { protocolVersion: requested, capabilities: {}, clientInfo: {} });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: agreed,
        capabilities: { tools: {} },
        serverInfo: { name: 'sightline-test', title: 'Sightline test', version: '0.0.0' },
        instructions: 'Fixtures only.',
      },
    });
    expect(answer.headers['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('issues another session id each time', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => (await legacy('initialize', { protocolVersion: '2025-11-25' })).headers['mcp-session-id']),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it.each(['2024-10-07', '1.0', ''])('refuses the version header %j', async (named) => {
    const answer = await legacy('ping', {}, { 'mcp-protocol-version': named });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ id: 1, error: { code: -32600 } });
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('takes the version header %s', async (named) => {
    expect((await legacy('ping', {}, { 'mcp-protocol-version': named })).status).toBe(200);
  });

  it.each(['resources/read', 'prompts/get', 'logging/setLevel', 'server/discover', 'toString', '__proto__'])(
    'has no method %s, and says so with 200',
    async (method) => {
      const answer = await legacy(method);
      expect([answer.status, answer.json]).toMatchObject([200, { id: 1, error: { code: -32601 } }]);
    },
  );

  it.each([
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ])('has an empty %s', async (method, member) => {
    expect((await legacy(method)).json).toEqual({ jsonrpc: '2.0', id: 1, result: { [member]: [] } });
  });

  it.each([null, ''])('takes the cursor %j for none', async (cursor) => {
    expect(listed((await legacy('tools/list', { cursor })).json)).toHaveLength(served.length);
  });

  it('takes arguments of null for none', async () => {
    const answer = await legacy('tools/call', { name: 'echo', arguments: null });
    expect(answer.json).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('text') }] },
    });
  });

  it('refuses a cursor that it never gave', async () => {
    expect((await legacy('tools/list', { cursor: 'x' })).json).toMatchObject({ error: { code: -32602 } });
  });
});

describe('2026 era', () => {
  it('discovers', async () => {
    const answer = await modern('server/discover');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        instructions: 'Fixtures only.',
        ttlMs: 300_000,
        cacheScope: 'private',
        resultType: 'complete',
        _meta: {
          'io.modelcontextprotocol/serverInfo': { name: 'sightline-test', title: 'Sightline test', version: '0.0.0' },
        },
      },
    });
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  });

  it.each(['ping', 'initialize', 'logging/setLevel', 'resources/list', 'no/such'])(
    'has no method %s: 404',
    async (method) => {
      const answer = await modern(method);
      expect([answer.status, answer.json]).toMatchObject([404, { id: 1, error: { code: -32601 } }]);
    },
  );

  it.each<[string, Record<string, string | undefined>, object, number]>([
    ['the version header is missing', { 'mcp-protocol-version': undefined }, {}, -32020],
    ['the version header disagrees', { 'mcp-protocol-version': '2025-11-25' }, {}, -32020],
    ['the method header is missing', { 'mcp-method': undefined }, {}, -32020],
    ['the method header disagrees', { 'mcp-method': 'tools/list' }, {}, -32020],
    ['the method header has another case', { 'mcp-method': 'Tools/Call' }, {}, -32020],
    ['the name header is missing', { 'mcp-name': undefined }, {}, -32020],
    ['the name header disagrees', { 'mcp-name': 'write_note' }, {}, -32020],
    ['the name header is broken Base64', { 'mcp-name': '=?base64?ZWNobw?=' }, {}, -32020],
    ['_meta is missing', {}, { _meta: undefined }, -32602],
    ['the version is missing', {}, { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } }, -32602],
    ['the version is no string', {}, { _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': 1 } }, -32602],
    ['the capabilities are missing', {}, { _meta: { 'io.modelcontextprotocol/protocolVersion': version } }, -32602],
    [
      'the capabilities are no object',
      {},
      { _meta: { ...envelope, 'io.modelcontextprotocol/clientCapabilities': [] } },
      -32602,
    ],
  ])('answers 400 when %s', async (_name, headers, params, code) => {
    const answer = await modern('tools/call', { name: 'echo', arguments: { text: 'x' }, ...params }, headers);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ id: 1, error: { code } });
  });

  it.each(['echo', '  echo  ', '=?base64?ZWNobw==?='])('takes Mcp-Name: %j', async (name) => {
    const answer = await modern('tools/call', { name: 'echo', arguments: { text: 'x' } }, { 'mcp-name': name });
    expect(answer.json).toMatchObject({ result: { resultType: 'complete', structuredContent: { text: 'x' } } });
  });

  it('names the versions it has for one it has not', async () => {
    const _meta = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
    const answer = await modern('tools/list', { _meta }, { 'mcp-protocol-version': '2031-01-01' });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      id: 1,
      error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2031-01-01' } },
    });
  });

  it('refuses initialize under a modern header', async () => {
    const answer = await legacy('initialize', { protocolVersion: version }, { 'mcp-protocol-version': version });
    expect([answer.status, answer.json]).toMatchObject([400, { error: { code: -32020 } }]);
  });

  it('takes notifications, and checks what their headers say', async () => {
    const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';
    const headers = { 'mcp-protocol-version': version };
    expect((await send({ body, headers })).status).toBe(202);
    expect((await send({ body, headers: { ...headers, 'mcp-method': 'tools/list' } })).status).toBe(400);
  });

  it('acknowledges a subscription as empty and ends it', async () => {
    const answer = await modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const about = { 'io.modelcontextprotocol/subscriptionId': 1 };
    expect(readEvents(answer.text)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: {}, _meta: about },
      },
      { jsonrpc: '2.0', id: 1, result: { resultType: 'complete', _meta: expect.objectContaining(about) } },
    ]);
  });

  it('names the capability a tool needs', async () => {
    const params = { name: 'test_missing_capability', arguments: {} };
    const answer = await modern('tools/call', params);
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { id: 1, error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } },
    ]);
    const _meta = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } };
    expect((await modern('tools/call', { ...params, _meta })).json).toHaveProperty('result');
  });

  describe('arguments in headers', () => {
    const call = (args: object, headers: Headers) =>
      modern('tools/call', { name: 'test_custom_header', arguments: args }, headers);
    it.each<[object, Headers]>([
      [{ region: 'eu' }, { 'mcp-param-region': 'eu' }],
      [{ region: 'süd' }, { 'MCP-PARAM-REGION': '=?base64?c8O8ZA==?=' }],
      [{ priority: 42 }, { 'mcp-param-priority': '42.0' }],
      [{}, {}],
    ])('takes %j with %j', async (args, headers) => {
      expect((await call(args, headers)).json).toHaveProperty('result.structuredContent');
    });
    it.each<[object, Headers]>([
      [{ region: 'eu' }, {}],
      [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
      [{ region: 'eu' }, { 'mcp-param-region': 'EU' }],
      [{}, { 'mcp-param-region': 'eu' }],
      [{ priority: 42 }, { 'mcp-param-priority': '0x2a' }],
      [{ region: 'ÿ' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    ])('refuses %j with %j', async (args, headers) => {
      const answer = await call(args, headers);
      expect([answer.status, answer.json]).toMatchObject([400, { error: { code: -32020 } }]);
    });
  });
});

describe('tools/call', () => {
  const call = (args: unknown, name: unknown = 'echo') => legacy('tools/call', { name, arguments: args });

  it('splices the structured content in and adds nothing in the 2025 era', async () => {
    expect((await call({ text: 'a', times: 2 })).json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'aa' }], structuredContent: { text: 'a', times: 2 } },
    });
  });

  it.each([
    ['an unknown tool', {}, 'no_such_tool'],
    ['a tool called __proto__', {}, '__proto__'],
    ['no tool', {}, 7],
    ['arguments that are a list', [], 'echo'],
  ])('answers %s with -32602', async (_name, args, name) => {
    const answer = await call(args, name);
    expect([answer.status, answer.json]).toMatchObject([200, { id: 1, error: { code: -32602 } }]);
  });

  it.each<[string, unknown, string]>([
    ['an unknown argument', { text: 'a', tex: 1 }, 'There is no argument "tex".'],
    ['constructor', { text: 'a', constructor: 1 }, 'There is no argument "constructor".'],
    ['a missing argument', {}, 'The arguments do not fit: text is missing.'],
    ['a wrong type', { text: [1] }, 'text: Invalid input: expected string, received array'],
    ['a wrong value of several kinds', { text: 'a', tag: 7 }, 'tag: Invalid option'],
    ['both names of one argument', { text: 'a', message: 'b' }, 'message is another name for text: send one of them.'],
  ])('lets the model repair %s', async (_name, args, message) => {
    const { json } = await call(args);
    expect(json).toMatchObject({ result: { isError: true, content: [{ type: 'text' }] } });
    expect(json).not.toHaveProperty('result.structuredContent');
    const said = errorOf(json);
    expect(said).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(message) });
    if (!message.startsWith('message'))
      expect(said).toMatchObject({ hint: expect.stringMatching(/(^|\? )Valid arguments: text, times, tag, extra\.$/) });
  });

  it('takes an alias silently', async () => {
    expect((await call({ message: 'a' })).json).toMatchObject({
      result: { structuredContent: { text: 'a', times: 1 } },
    });
  });

  it('takes the last of two equal keys, in the check and in the run alike', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_note","name":"echo","arguments":{"text":1,"text":"b"}}}';
    expect((await send({ body })).json).toMatchObject({ result: { structuredContent: { text: 'b' } } });
  });

  it('passes a prototype-looking value through without touching a prototype', async () => {
    const args: unknown = JSON.parse('{"message":"a","extra":{"__proto__":{"polluted":1}}}');
    expect((await call(args)).json).toHaveProperty('result.structuredContent');
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

function errorOf(json: unknown): unknown {
  const text = JSON.stringify(json);
  const found = /"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? '""';
  return JSON.parse(String(JSON.parse(found)));
}
