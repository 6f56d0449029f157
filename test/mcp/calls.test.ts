import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { scopes } from '../../src/contract/issuer/index.ts';
import {
  SightlineError,
  defineTool,
  newId,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../src/contract/core/index.ts';
import type { AuditLog, Recording } from '../../src/contract/storage/index.ts';
import { limitCallsAtOnce } from '../../src/limits/at-once.ts';
import { echoTool, writeTool } from '../support/fixture-tools.ts';
import { listen } from '../support/listen.ts';
import { startMcpServer, type TestServer, type TestServerOptions } from '../support/mcp-server.ts';
import { rawRequest, readEvents, type RawAnswer } from '../support/raw-http.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startMcpServer(options);
  servers.push(server);
  return server;
}

const version = '2026-07-28';

function tool(name: string, run: (context: ToolContext) => Promise<ToolResult> | ToolResult): Tool {
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const input = z.strictObject({ n: z.int().optional() });
  return defineTool({
    name,
    title: name,
    description: name,
    scope: 'telemetry:read',
    annotations,
    input,
    output: z.object({}),
    run: async (_input, context) => run(context),
  });
}

const ok: ToolResult = { structured: '{}', text: 'ok' };

interface Sent {
  readonly token: string;
  readonly name: string;
  readonly args?: object;
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly id?: string | number;
  readonly modern?: boolean;
  readonly signal?: AbortSignal;
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
};

function headersOf({ token, name, headers, modern }: Sent): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(modern === true ? { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name } : {}),
    ...headers,
  };
}

const bodyOf = ({ name, args = {}, meta = {}, id = 1, modern }: Sent): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args, _meta: { ...(modern === true ? envelope : {}), ...meta } },
  });

const call = (url: string, sent: Sent): Promise<RawAnswer> =>
  rawRequest(url, { headers: headersOf(sent), body: bodyOf(sent) });

/** Something that happens later; a test awaits it instead of guessing a time. */
function milestone<Value = void>(): { readonly reached: Promise<Value>; reach(value: Value): void } {
  const { promise, resolve } = Promise.withResolvers<Value>();
  return { reached: promise, reach: resolve };
}

describe('cancellation', () => {
  const untilAborted = (started: () => void, ended: (reason: string) => void) =>
    tool('slow', async ({ signal }) => {
      started();
      const reason = await wait(10_000, 'time', { signal }).catch(() => 'aborted');
      ended(reason);
      throw new SightlineError('query_cancelled', 'cancelled');
    });

  it('2026: a client that hangs up aborts its call', async () => {
    const started = milestone();
    const ended = milestone<string>();
    const { url, mint, audited } = await start({ tools: [untilAborted(started.reach, ended.reach)] });
    const leave = new AbortController();
    const sent = { token: await mint(), name: 'slow', modern: true };
    const answer = fetch(url, { method: 'POST', headers: headersOf(sent), body: bodyOf(sent), signal: leave.signal });
    await started.reached;
    leave.abort();
    await expect(answer).rejects.toThrow();
    expect(await ended.reached).toBe('aborted');
    await wait(10);
    expect(audited).toMatchObject([{ outcome: 'query_cancelled', target: 'slow' }]);
  });

  it('2025: a client that hangs up does not', async () => {
    const started = milestone();
    const go = milestone();
    const seen = milestone<boolean>();
    const slow = tool('slow', async ({ signal }) => {
      started.reach();
      await go.reached;
      seen.reach(signal.aborted);
      return ok;
    });
    const { url, mint } = await start({ tools: [slow] });
    const leave = new AbortController();
    const sent = { token: await mint(), name: 'slow' };
    const answer = fetch(url, { method: 'POST', headers: headersOf(sent), body: bodyOf(sent), signal: leave.signal });
    await started.reached;
    leave.abort();
    await expect(answer).rejects.toThrow();
    await wait(20);
    go.reach();
    expect(await seen.reached).toBe(false);
  });

  it('2025: notifications/cancelled ends the call of the same principal, session and id, and no other', async () => {
    const started = milestone();
    const ended = milestone<string>();
    let over = false;
    const slow = untilAborted(started.reach, (reason) => {
      over = true;
      ended.reach(reason);
    });
    const { url, mint } = await start({ tools: [slow] });
    const token = await mint();
    const stranger = await mint();
    const session = { 'mcp-session-id': 'session-1' };
    const answer = call(url, { token, name: 'slow', id: 7, headers: session });
    await started.reached;
    const cancel = async (by: string, headers: Readonly<Record<string, string>>, requestId: unknown) => {
      const { status } = await rawRequest(url, {
        headers: { ...headersOf({ token: by, name: 'slow' }), ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
      });
      expect(status).toBe(202);
    };
    await cancel(stranger, session, 7);
    await cancel(token, { 'mcp-session-id': 'session-2' }, 7);
    await cancel(token, {}, 7);
    await cancel(token, session, '7');
    await cancel(token, session, 8);
    await cancel(token, session, { toString: 'x' });
    await wait(20);
    expect(over).toBe(false);
    await cancel(token, session, 7);
    expect(await ended.reached).toBe('aborted');
    // The protocol wants no response to a cancelled request: the stream ends empty.
    const { status, text, headers } = await answer;
    expect([status, text, headers['content-type']]).toEqual([200, '', 'text/event-stream']);
    await cancel(token, session, 7);
  });
});

describe('the room that a client has', () => {
  const rooms: (number | undefined)[] = [];
  const looks = tool('looks', ({ roomBytes }) => {
    rooms.push(roomBytes);
    return ok;
  });

  it.each([
    ['@cline/core', 3_500],
    ['copilot-cli', 9_000],
    ['qwen-cli-mcp-client-sightline', 11_000],
    ['claude-code', undefined],
  ])('%s of 2025 is known by its session, of 2026 by each request', async (name, bytes) => {
    const { url, mint } = await start({ tools: [looks] });
    const token = await mint();
    const clientInfo = { name, version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const { headers } = await rawRequest(url, {
      headers: headersOf({ token, name: 'looks' }),
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    });
    const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
    rooms.length = 0;
    await call(url, { token, name: 'looks', headers: session });
    const meta = { 'io.modelcontextprotocol/clientInfo': clientInfo };
    await call(url, { token, name: 'looks', modern: true, meta });
    expect(rooms).toEqual([bytes, bytes]);
  });

  it.each(['x.', 'x.y', '.cline.cline', 'x.constructor'])('is the usual one for the session %s', async (id) => {
    const { url, mint } = await start({ tools: [looks] });
    rooms.length = 0;
    await call(url, { token: await mint(), name: 'looks', headers: { 'mcp-session-id': id } });
    expect(rooms).toEqual([undefined]);
  });
});

describe('progress', () => {
  const reporting = (reports: readonly (readonly [number, string])[], late?: (report: () => void) => void) =>
    tool('reports', ({ progress }) => {
      for (const [value, message] of reports) progress(value, message, 10);
      late?.(() => progress(99, 'late'));
      return ok;
    });

  it('is sent as events before the answer, rising only, when a token was sent', async () => {
    let report = (): void => {};
    const fixture = reporting(
      [
        [1, 'a'],
        [1, 'b'],
        [0, 'c'],
        [Number.NaN, 'd'],
        [2, 'line\nbreak'],
      ],
      (late) => (report = late),
    );
    const { url, mint } = await start({ tools: [fixture] });
    const answer = await call(url, { token: await mint(), name: 'reports', meta: { progressToken: 'p' } });
    report();
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.headers['x-accel-buffering']).toBe('no');
    expect(readEvents(answer.text)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1, total: 10, message: 'a' },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 2, total: 10, message: 'line\nbreak' },
      },
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'ok' }], structuredContent: {} } },
    ]);
  });

  it.each([
    ['no token', {}, {}],
    ['a token of a wrong type', { progressToken: {} }, {}],
    ['a client that takes JSON alone', { progressToken: 1 }, { accept: 'application/json' }],
    ['a client that takes anything', { progressToken: 1 }, { accept: '*/*' }],
  ])('is not sent with %s', async (_name, meta, headers) => {
    const { url, mint } = await start({ tools: [reporting([[1, 'a']])] });
    const answer = await call(url, { token: await mint(), name: 'reports', meta, headers });
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json).toHaveProperty('result.structuredContent');
  });

  it('is limited, however fast a tool reports', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => [index, 'x'] as const);
    const { url, mint } = await start({ tools: [reporting(many)] });
    const answer = await call(url, { token: await mint(), name: 'reports', meta: { progressToken: 1 } });
    const events = readEvents(answer.text).length - 1;
    expect(events).toBeGreaterThanOrEqual(10);
    expect(events).toBeLessThan(30);
  });

  it('keeps a silent stream alive with comments and ends it with the error of a failed call', async () => {
    const fixture = tool('fails', async ({ progress }) => {
      progress(1, 'started');
      await wait(60);
      throw new Error('secret');
    });
    const { url, mint } = await start({ tools: [fixture], limits: { keepAliveMs: 10 } });
    const answer = await call(url, { token: await mint(), name: 'fails', meta: { progressToken: 1 } });
    expect(answer.text).toContain(': keep-alive\n\n');
    expect(readEvents(answer.text).at(-1)).toMatchObject({ id: 1, result: { isError: true } });
    expect(answer.text).not.toContain('secret');
  });
});

describe('official clients', () => {
  const target = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });
  const info = { name: 't', version: '0' };
  const kinds = ['SDK v1', 'SDK v2, 2025 era', 'SDK v2, 2026 era'] as const;

  async function connect(kind: (typeof kinds)[number], url: string, token: string): Promise<ClientV1 | Client> {
    if (kind === 'SDK v1') {
      const client = new ClientV1(info);
      await client.connect(new TransportV1(new URL(url), target(token)));
      return client;
    }
    const client = new Client(info, { versionNegotiation: { mode: kind === 'SDK v2, 2026 era' ? 'auto' : 'legacy' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), target(token)));
    return client;
  }

  const call = (
    client: ClientV1 | Client,
    name: string,
    options: { signal?: AbortSignal; onprogress?: (p: object) => void },
  ) =>
    client instanceof ClientV1
      ? client.callTool({ name, arguments: {} }, undefined, options)
      : client.callTool({ name, arguments: {} }, options);

  it.each(kinds)('%s cancels a call that runs', async (kind) => {
    const started = milestone();
    const ended = milestone<string>();
    const slow = tool('slow', async ({ signal }) => {
      started.reach();
      ended.reach(await wait(10_000, 'time', { signal }).catch(() => 'aborted'));
      return ok;
    });
    const { url, mint } = await start({ tools: [slow] });
    const client = await connect(kind, url, await mint());
    try {
      const leave = new AbortController();
      const answer = call(client, 'slow', { signal: leave.signal });
      const rejected = expect(answer).rejects.toThrow();
      await started.reached;
      leave.abort();
      await rejected;
      expect(await ended.reached).toBe('aborted');
    } finally {
      await client.close();
    }
  });

  it.each(kinds)('%s receives progress', async (kind) => {
    const reports = tool('reports', ({ progress }) => {
      progress(1, 'one', 2);
      progress(2, 'two', 2);
      return ok;
    });
    const { url, mint } = await start({ tools: [reports] });
    const client = await connect(kind, url, await mint());
    try {
      const seen: object[] = [];
      const answer = await call(client, 'reports', { onprogress: (progress) => void seen.push(progress) });
      expect(answer).toMatchObject({ structuredContent: {} });
      expect(seen).toMatchObject([
        { progress: 1, total: 2, message: 'one' },
        { progress: 2, total: 2, message: 'two' },
      ]);
    } finally {
      await client.close();
    }
  });
});

describe('errors of tools', () => {
  it('carry code, message, hint, position and retry as JSON; the cause goes to the log', async () => {
    const fixture = tool('fails', () => {
      throw new SightlineError('unknown_column', 'no column "durations"', {
        hint: 'did you mean duration_ms?',
        retry: { sql: 'select 1' },
        position: 8,
        cause: new Error('Binder Error: tenant_7 "durations"'),
      });
    });
    const { url, mint, logger, audited } = await start({ tools: [fixture] });
    const { json, text } = await call(url, { token: await mint(), name: 'fails', modern: true });
    const shape = z.object({
      result: z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.literal(true) }).loose(),
    });
    const { result } = shape.parse(json);
    const [{ text: said }] = result.content;
    expect(JSON.parse(said)).toEqual({
      code: 'unknown_column',
      message: 'no column "durations"',
      hint: 'did you mean duration_ms?',
      position: 8,
      retry: { sql: 'select 1' },
      request_id: audited[0]?.requestId,
    });
    expect(result).toMatchObject({ resultType: 'complete' });
    expect(result).not.toHaveProperty('structuredContent');
    expect(text).not.toContain('tenant_7');
    expect(logger.lines).toContainEqual({
      level: 'warn',
      fields: expect.objectContaining({
        request_id: audited[0]?.requestId,
        tool: 'fails',
        error: expect.objectContaining({ message: 'Binder Error: tenant_7 "durations"' }),
      }),
      message: 'tool call failed',
    });
  });

  it.each<[string, () => ToolResult]>([
    [
      'an exception',
      () => {
        throw new TypeError('password=hunter2');
      },
    ],
    [
      'a thrown string',
      () => {
        // oxlint-disable-next-line no-throw-literal, only-throw-error -- what a careless dependency does
        throw 'password=hunter2';
      },
    ],
    ['structured content that is no object', () => ({ structured: '[1]', text: 'password=hunter2' })],
  ])('say nothing of %s', async (_name, run) => {
    const { url, mint, logger } = await start({ tools: [tool('breaks', run)] });
    const { text } = await call(url, { token: await mint(), name: 'breaks' });
    expect(text).toContain('Something went wrong in the gateway.');
    expect(text).toContain('"isError":true');
    expect(text).not.toContain('hunter2');
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('reach a client that takes nothing but events as one event', async () => {
    const { url, mint } = await start({ tools: [] });
    const answer = await call(url, { token: await mint(), name: 'none', headers: { accept: 'text/event-stream' } });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(readEvents(answer.text)).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  });

  it('refuse a result beyond 5 MB', async () => {
    const big = tool('big', () => ({ structured: `{"x":"${'y'.repeat(5 * 1024 * 1024 + 70_000)}"}`, text: '' }));
    const { url, mint } = await start({ tools: [big] });
    const { text } = await call(url, { token: await mint(), name: 'big' });
    expect(text).toContain('payload_too_large');
    expect(text.length).toBeLessThan(1_000);
  });

  it('do not come from white space in structured content, even in an event', async () => {
    const pretty = tool('pretty', () => ({ structured: '{\n  "a": "b\\nc"\r\n}', text: 't' }));
    const { url, mint } = await start({ tools: [pretty] });
    const answer = await call(url, { token: await mint(), name: 'pretty', headers: { accept: 'text/event-stream' } });
    expect(readEvents(answer.text)).toMatchObject([{ result: { structuredContent: { a: 'b\nc' } } }]);
  });
});

describe('audit', () => {
  it('records each call with the hash of its arguments, however they were written', async () => {
    const { url, mint, audited } = await start({ tools: [echoTool, writeTool] });
    const subject = newId('ak');
    const token = await mint(['telemetry:read'], subject);
    await call(url, { token, name: 'echo', args: { text: 'a', times: 2 } });
    await call(url, { token, name: 'echo', args: { times: 2, text: 'a' } });
    await call(url, { token, name: 'echo', args: { text: [7] } });
    await call(url, { token, name: 'write_note' });
    await call(url, { token, name: 'no_such_tool' });
    expect(audited).toMatchObject([
      { event: 'tool.call', subject, target: 'echo', outcome: 'ok', rows: 2, truncated: false, bytes: 22 },
      { outcome: 'ok' },
      { outcome: 'invalid_argument' },
      { outcome: 'insufficient_scope', target: 'write_note' },
    ]);
    expect(audited[0]?.argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(audited[1]?.argumentsHash).toBe(audited[0]?.argumentsHash);
    expect(audited[2]?.argumentsHash).not.toBe(audited[0]?.argumentsHash);
    expect(new Set(audited.map(({ requestId }) => requestId)).size).toBe(4);
    expect(audited[0]?.at).toBeInstanceOf(Date);
    expect(audited[0]?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('keeps the SQL of a call only where it is told to, as it was sent, whatever name it came under', async () => {
    const tool = { ...echoTool, statement: 'text', aliases: { sql: 'text' } };
    const told = await start({ tools: [tool], auditStatements: true });
    await call(told.url, { token: await told.mint(), name: 'echo', args: { text: 'select 1' } });
    await call(told.url, { token: await told.mint(), name: 'echo', args: { sql: 'select 2', wrong: 1 } });
    expect(told.audited.map(({ statement }) => statement)).toEqual(['select 1', 'select 2']);
    const untold = await start({ tools: [tool] });
    await call(untold.url, { token: await untold.mint(), name: 'echo', args: { text: 'select 1' } });
    expect(untold.audited).toHaveLength(1);
    expect(JSON.stringify(untold.audited)).not.toContain('select');
  });

  it('refuses a call that cannot be recorded, before it runs', async () => {
    let ran = 0;
    const counts = tool('counts', () => {
      ran += 1;
      return ok;
    });
    const reserve = (): never => {
      throw new SightlineError('unavailable', 'no room', { retryAfterSeconds: 1 });
    };
    const audit = { reserve, reserveNow: reserve };
    const { url, mint } = await start({ tools: [counts], audit });
    const answer = await call(url, { token: await mint(), name: 'counts' });
    expect([answer.status, answer.headers['retry-after'], ran]).toEqual([503, '1', 0]);
    expect(answer.json).toMatchObject({ id: 1, error: { code: 503, data: { code: 'unavailable' } } });
  });

  it('runs a call only when its place has come, and not at all for a client that left meanwhile', async () => {
    let ran = 0;
    const counts = tool('counts', () => {
      ran += 1;
      return ok;
    });
    const waiting: PromiseWithResolvers<Recording>[] = [];
    const left = Promise.withResolvers<void>();
    const audit: AuditLog = {
      reserve(_organizationId, signal) {
        const place = Promise.withResolvers<Recording>();
        waiting.push(place);
        signal?.addEventListener('abort', () => {
          place.reject(new SightlineError('unavailable', 'gave up'));
          left.resolve();
        });
        return place.promise;
      },
      reserveNow: () => () => undefined,
    };
    const { url, mint } = await start({ tools: [counts], audit });
    const token = await mint();
    const answer = call(url, { token, name: 'counts' });
    while (waiting.length < 1) await new Promise(setImmediate);
    expect(ran).toBe(0);
    waiting[0]?.resolve(() => undefined);
    expect([(await answer).status, ran]).toEqual([200, 1]);
    const gone = new AbortController();
    const sent = { token, name: 'counts', modern: true };
    const { signal } = gone;
    const abandoned = fetch(url, { method: 'POST', headers: headersOf(sent), body: bodyOf(sent), signal }).catch(
      () => 'left',
    );
    while (waiting.length < 2) await new Promise(setImmediate);
    gone.abort();
    await left.promise;
    expect([await abandoned, ran]).toEqual(['left', 1]);
  });
});

describe('rate limit', () => {
  it('answers 429 with Retry-After, to one principal and not to another, and records no flood', async () => {
    const { url, mint, audited } = await start({ tools: [echoTool, writeTool], rate: { perMinute: 1, burst: 3 } });
    const token = await mint(['telemetry:read']);
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      statuses.push((await call(url, { token, name: 'echo', args: { text: 'a' } })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const refused = await call(url, { token, name: 'echo', args: { text: 'a' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    expect(refused.json).toMatchObject({ id: 1, error: { code: 429, data: { code: 'rate_limited' } } });
    expect((await call(url, { token, name: 'write_note' })).status).toBe(403);
    expect((await call(url, { token: await mint(), name: 'echo', args: { text: 'a' } })).status).toBe(200);
    expect(audited).toHaveLength(4);
  });
});

describe('calls at once', () => {
  it('are refused with 429 and Retry-After where too many are under way, and taken again once one has ended', async () => {
    const started = milestone();
    const goOn = milestone();
    const slow = tool('slow', async () => {
      started.reach();
      await goOn.reached;
      return ok;
    });
    const callsAtOnce = limitCallsAtOnce({ each: 10, tools: { slow: 1 } });
    const { url, mint } = await start({ tools: [slow, echoTool], callsAtOnce });
    const token = await mint();
    const first = call(url, { token, name: 'slow' });
    await started.reached;
    const refused = await call(url, { token: await mint(), name: 'slow' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    expect(refused.json).toMatchObject({ id: 1, error: { data: { code: 'rate_limited' } } });
    expect((await call(url, { token, name: 'echo', args: { text: 'a' } })).status).toBe(200);
    goOn.reach();
    expect((await first).status).toBe(200);
    expect((await call(url, { token, name: 'slow' })).status).toBe(200);
  });
});

describe('trace context', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const valid = `00-${trace}-b7ad6b7169203331-01`;
  const other = `00-${'1'.repeat(32)}-b7ad6b7169203331-01`;
  it.each<[string, object, Readonly<Record<string, string>>, string | undefined]>([
    ['_meta', { traceparent: valid, tracestate: 'a=b' }, {}, trace],
    ['the header', {}, { traceparent: valid }, trace],
    ['_meta before the header', { traceparent: valid }, { traceparent: other }, trace],
    ['nothing malformed', { traceparent: `${valid}\n"}` }, {}, undefined],
    ['nothing of zeros', {}, { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }, undefined],
  ])('is taken from %s', async (_name, meta, headers, traceId) => {
    let seen: Pick<ToolContext, 'traceId' | 'requestId'> | undefined;
    const says = tool('says', (context) => {
      context.logger.info({}, 'here');
      seen = context;
      return ok;
    });
    const { url, mint, logger } = await start({ tools: [says] });
    await call(url, { token: await mint(), name: 'says', meta, headers });
    // Where there is none, a request is told from the others by its own id.
    expect(seen?.traceId).toBe(traceId ?? seen?.requestId);
    const line = logger.lines.find(({ message }) => message === 'here');
    expect(line?.fields['tool']).toBe('says');
    expect(line?.fields['trace_id']).toBe(traceId);
  });
});

describe('revocation and step-up', () => {
  it('ends a cached token with its key', async () => {
    const { url, mint, revoke } = await start({ tools: [echoTool] });
    const subject = newId('ak');
    const token = await mint(['telemetry:read'], subject);
    expect((await call(url, { token, name: 'echo', args: { text: 'a' } })).status).toBe(200);
    revoke(subject);
    const refused = await call(url, { token, name: 'echo', args: { text: 'a' } });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });

  it('lets SDK v2 step up to the scope a call needs, by itself', async () => {
    const asked: (string | null)[] = [];
    const authorizationServer = (request: IncomingMessage, response: ServerResponse): boolean => {
      const json = (value: object): void => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
      };
      const issuer = `http://${request.headers.host}`;
      if (request.url === '/.well-known/oauth-authorization-server') {
        json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['client_credentials'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['client_secret_basic'],
        });
      } else if (request.url === '/token') {
        void text(request).then(async (body) => {
          const scope = new URLSearchParams(body).get('scope');
          asked.push(scope);
          // Gives one scope less than a client may want at first, so that it has to come again.
          const granted = asked.length === 1 ? (['telemetry:read'] as const) : scopes;
          json({ access_token: await mint(granted), token_type: 'Bearer', expires_in: 3600, scope: granted.join(' ') });
        });
      } else {
        return false;
      }
      return true;
    };
    const { url, mint, origin } = await start({ tools: [echoTool, writeTool], beside: authorizationServer });
    const client = new Client({ name: 't', version: '0' }, { versionNegotiation: { mode: 'auto' } });
    const authProvider = new ClientCredentialsProvider({
      clientId: 'c',
      clientSecret: 's',
      scope: 'telemetry:read',
      expectedIssuer: origin,
    });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
      expect(await client.callTool({ name: 'write_note', arguments: {} })).toMatchObject({ structuredContent: {} });
      expect(asked).toHaveLength(2);
      expect(asked[1]?.split(' ')).toEqual(expect.arrayContaining(['telemetry:read', 'chats:write']));
    } finally {
      await client.close();
    }
  });
});

describe('mounted in an Express app', () => {
  it('works ahead of a body parser, and says what is wrong behind one', async () => {
    const { server: inner, mint, url, logger } = await start({ tools: [echoTool] });
    const [handler] = inner.listeners('request');
    const app = express();
    app.post('/mcp', (request, response) => void handler?.(request, response));
    app.post('/late', express.json(), (request, response) => {
      request.url = '/mcp';
      handler?.(request, response);
    });
    const outer = createServer(app);
    const port = await listen(outer);
    try {
      const sent = { token: await mint(), name: 'echo', args: { text: 'a' } };
      const base = `http://127.0.0.1:${port}`;
      expect((await call(`${base}/mcp`, sent)).json).toHaveProperty('result.structuredContent.text', 'a');
      const late = await call(`${base}/late`, sent);
      expect([late.status, late.json]).toMatchObject([
        500,
        { error: { code: -32603, message: 'Something went wrong in the gateway.' } },
      ]);
      expect(JSON.stringify(logger.lines.at(-1)?.message)).toContain('failed unexpectedly');
      expect(url).toContain('/mcp');
    } finally {
      outer.closeAllConnections();
      await new Promise<void>((resolve) => outer.close(() => resolve()));
    }
  });
});
