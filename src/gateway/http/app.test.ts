import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import { SightlineError, type Logger } from '../../contract/core/index.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import { createSiteApp } from '../../../test/support/http-app.ts';
import { Admission } from '../../limits/admission.ts';
import type { AppOptions } from './app.ts';
import type { HealthReport } from './health.ts';
import { listenForRequests } from './server.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const resourceMetadata = { resource: 'http://gateway.example/mcp', authorization_servers: ['http://gateway.example'] };

describe('the HTTP application', () => {
  let server: ReturnType<typeof createServer>;
  let port: number;
  let report: () => Promise<HealthReport>;
  let checks: number;
  let ready: boolean;
  let addresses: (string | undefined)[];

  const issuer: Issuer = {
    trusts: [
      {
        issuer: 'http://gateway.example',
        algorithms: ['ES256'],
        keys: () => Promise.reject(new Error('none')),
        claims: () => undefined,
      },
    ],
    authorizationServers: ['http://gateway.example'],
    signIn: { kind: 'password' },
    handle(request, response, address) {
      if (request.url === '/boom') throw new Error('a secret detail');
      if (request.url === '/refuse') throw new SightlineError('rate_limited', 'Too fast.', { hint: 'Slow down.' });
      if (request.url === '/away') throw new SightlineError('unavailable', 'Gone.', { retryAfterSeconds: 1.5 });
      if (request.url !== '/oauth2/token') return false;
      addresses.push(address);
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => response.end(body));
      return true;
    },
    start: async () => {},
    stop: async () => {},
    health: async () => ({ ok: true }),
  };

  const listen = async (changes: Partial<AppOptions> = {}) => {
    const app = createSiteApp({
      issuer,
      pages: (_request, _response, next) => next(),
      publicUrl: 'http://gateway.example',
      authUrl: 'http://gateway.example',
      resource: 'http://gateway.example/mcp',
      resourceName: 'Sightline <test>',
      resourceMetadata,
      health: () => {
        checks += 1;
        return report();
      },
      ready: () => ready,
      allowedHosts: ['gateway.example'],
      trustProxy: false,
      requestId: () => 'req-1',
      logger: silentLogger,
      ...changes,
    });
    server = createServer();
    listenForRequests(server, app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    port = address.port;
  };

  beforeEach(() => {
    ready = true;
    checks = 0;
    addresses = [];
    report = async () => ({ ok: true, components: { storage: { ok: true }, telemetry: { ok: true } } });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function send(path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
    return new Promise<Answer>((resolve, reject) => {
      const headers = { host: 'gateway.example', ...options.headers };
      const request = httpRequest(
        { port, host: '127.0.0.1', path, method: options.method ?? 'GET', headers },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (text += chunk));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        },
      );
      request.on('error', reject);
      request.end(options.body);
    });
  }

  it('sends security headers with every answer, and names no framework', async () => {
    await listen();
    for (const path of ['/', '/livez', '/nowhere', '/boom', '/.well-known/oauth-protected-resource']) {
      const { headers } = await send(path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      });
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers.etag).toBeUndefined();
      expect(headers['strict-transport-security']).toBeUndefined();
    }
  });

  it('asks browsers to stay with https where it is reached by it', async () => {
    await listen({ publicUrl: 'https://gateway.example' });
    expect((await send('/')).headers['strict-transport-security']).toBe('max-age=31536000');
  });

  it('names the MCP endpoint to a client that posts to the page', async () => {
    await listen();
    const answer = await send('/', { method: 'POST', body: '{}' });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(answer.text).toContain('http://gateway.example/mcp');
  });

  it('names the setting where a host is refused, and logs the name once', async () => {
    const warned: unknown[] = [];
    await listen({ logger: { ...silentLogger, warn: (fields) => void warned.push(fields) } });
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await send('/', { headers: { host: 'other.example' } });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('allowedHosts');
    }
    expect(warned).toEqual([{ host: 'other.example' }]);
  });

  it('warns once of a proxy that is not believed, and of none that is', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warned.push(fields) };
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    await listen({ logger, trustProxy: 1 });
    await send('/', { headers });
    expect(warned).toEqual([]);
    server.close();
    await listen({ logger, trustProxy: false });
    await send('/');
    expect(warned).toEqual([]);
    for (let turn = 0; turn < 2; turn += 1) await send('/', { headers });
    expect(warned).toEqual([{ trustProxy: false }]);
  });

  it('serves the protected-resource document at both places, to any page', async () => {
    await listen();
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const answer = await send(path, { headers: { origin: 'https://page.example' } });
      expect(answer.status).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(JSON.parse(answer.text)).toEqual(resourceMetadata);
      expect((await send(path, { method: 'OPTIONS' })).status).toBe(204);
      expect((await send(path, { method: 'POST' })).status).toBe(405);
    }
    expect((await send('/.well-known/oauth-protected-resource/other')).status).toBe(404);
  });

  it('serves it at the whole path of a resource that lies deeper', async () => {
    await listen({ resource: 'http://gateway.example/team/mcp' });
    expect((await send('/.well-known/oauth-protected-resource/team/mcp')).status).toBe(200);
  });

  it('is alive whenever it runs, and ready only while it serves and all is well', async () => {
    await listen();
    ready = false;
    expect((await send('/livez')).status).toBe(200);
    expect(await send('/readyz')).toMatchObject({ status: 503, text: '{"status":"not serving"}' });
    ready = true;
    const good = await send('/readyz');
    expect(good.status).toBe(200);
    expect(JSON.parse(good.text)).toEqual({ status: 'ok', components: { storage: 'ok', telemetry: 'ok' } });
  });

  it('is ready with a component that is degraded, and says which', async () => {
    report = async () => ({ ok: true, components: { agent: { ok: true, degraded: true, detail: 'wrong key' } } });
    await listen();
    const answer = await send('/readyz');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).components).toEqual({ agent: 'degraded' });
    expect(answer.text).not.toContain('wrong key');
  });

  it('says which component is unwell, and why only to the log', async () => {
    const warnings: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (fields, message) => warnings.push(message + JSON.stringify(fields)),
    };
    report = async () => ({
      ok: false,
      components: { storage: { ok: false, detail: 'db.internal refuses' }, telemetry: { ok: true } },
    });
    await listen({ logger });
    for (let times = 0; times < 3; times += 1) {
      const answer = await send('/readyz');
      expect(answer.status).toBe(503);
      expect(JSON.parse(answer.text)).toEqual({
        status: 'unwell',
        components: { storage: 'unwell', telemetry: 'ok' },
      });
      expect(answer.text).not.toContain('db.internal');
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('db.internal');
  });

  it('stays ready where nothing of its own is unwell, and says what is', async () => {
    report = async () => ({ ok: true, components: { storage: { ok: false }, telemetry: { ok: true } } });
    await listen();
    const answer = await send('/readyz');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { status: 'unwell', components: { storage: 'unwell', telemetry: 'ok' } },
    ]);
  });

  it('answers a probe with what it knows while a check hangs, and with its outcome then', async () => {
    await listen();
    expect((await send('/readyz')).status).toBe(200);
    const hanging = Promise.withResolvers<HealthReport>();
    report = () => hanging.promise;
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect((await send('/readyz')).status).toBe(200);
    hanging.resolve({ ok: false, components: { storage: { ok: false } } });
    expect((await send('/readyz')).status).toBe(503);
  });

  it('shares one health check among many probes, and survives one that fails', async () => {
    await listen();
    await Promise.all(Array.from({ length: 20 }, () => send('/readyz')));
    expect(checks).toBe(1);
    report = () => Promise.reject(new Error('broken'));
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect((await send('/readyz')).status).toBe(503);
  });

  it('answers to its own names only, probes aside', async () => {
    await listen();
    for (const host of ['evil.example', 'gateway.example.evil.example', 'gateway.example:x', '']) {
      const answer = await send('/', { headers: { host } });
      expect([host, answer.status]).toEqual([host, 403]);
      expect((await send('/oauth2/token', { method: 'POST', headers: { host } })).status).toBe(403);
      expect((await send('/.well-known/oauth-protected-resource', { headers: { host } })).status).toBe(403);
      expect((await send('/livez', { headers: { host } })).status).toBe(200);
      expect((await send('/readyz', { headers: { host } })).status).toBe(200);
    }
    for (const host of ['GATEWAY.example', 'gateway.example:81']) {
      expect([host, (await send('/', { headers: { host } })).status]).toEqual([host, 200]);
    }
  });

  it('hands the issuer its requests unread, with the address of the caller', async () => {
    await listen();
    const answer = await send('/oauth2/token', {
      method: 'POST',
      body: 'a=b',
      headers: { 'x-forwarded-for': '198.51.100.7' },
    });
    expect(answer).toMatchObject({ status: 200, text: 'a=b' });
    expect(addresses).toEqual(['127.0.0.1']);
  });

  it('believes as many proxies about the address as it is told to', async () => {
    await listen({ trustProxy: 1 });
    await send('/oauth2/token', { method: 'POST', headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } });
    expect(addresses).toEqual(['198.51.100.7']);
  });

  it('takes the socket’s address when there is no chain, and the end of a chain that is too short', async () => {
    await listen({ trustProxy: 3 });
    await send('/oauth2/token', { method: 'POST' });
    await send('/oauth2/token', { method: 'POST', headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } });
    expect(addresses).toEqual(['127.0.0.1', '203.0.113.9']);
  });

  it.each([
    ['203.0.113.9:50123', '203.0.113.9'],
    ['[2001:db8::9]:50123', '2001:db8::9'],
    ['[2001:db8::9]', '2001:db8::9'],
    ['"[2001:db8::9]:50123"', '2001:db8::9'],
    ['2001:db8::9', '2001:db8::9'],
    ['unknown', 'unknown'],
  ])('takes the address alone of %s: the port is another at each connection', async (written, address) => {
    await listen({ trustProxy: 1 });
    await send('/oauth2/token', { method: 'POST', headers: { 'x-forwarded-for': written } });
    expect(addresses).toEqual([address]);
  });

  it('believes the whole chain where every proxy is trusted', async () => {
    await listen({ trustProxy: true });
    await send('/oauth2/token', { method: 'POST', headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' } });
    expect(addresses).toEqual(['203.0.113.9']);
  });

  it('shows a browser one page without script, and a program the same in JSON', async () => {
    await listen();
    const page = await send('/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('Sightline &#60;test&#62;');
    expect(page.text).not.toContain('<test>');
    expect(page.text).not.toMatch(/<script|onload=|javascript:|style=/);
    expect(page.text).toContain('http://gateway.example/oauth2/token');
    expect(page.text).toContain('href="http://gateway.example/sign-in"');
    expect(page.headers['content-security-policy']).toMatch(/style-src 'sha256-[A-Za-z0-9+/=]+'/);
    const json = await send('/', { headers: { accept: '*/*' } });
    expect(JSON.parse(json.text)).toEqual({
      name: 'Sightline <test>',
      mcp_endpoint: 'http://gateway.example/mcp',
      token_endpoint: 'http://gateway.example/oauth2/token',
    });
  });

  it('does not offer a token endpoint that is elsewhere', async () => {
    const { handle: _handle, ...remote } = issuer;
    await listen({ issuer: remote });
    const page = await send('/', { headers: { accept: 'text/html' } });
    expect(page.text).not.toContain('oauth2/token');
    expect((await send('/oauth2/token', { method: 'POST' })).status).toBe(404);
  });

  it('answers small JSON for what is not there, what is malformed and what failed, and never a stack', async () => {
    const errors: unknown[] = [];
    await listen({ logger: { ...silentLogger, error: (fields) => errors.push(fields) } });
    expect(await send('/nowhere')).toMatchObject({ status: 404, text: expect.stringContaining('"code":"not_found"') });
    expect((await send('/nowhere', { method: 'POST', body: 'x' })).status).toBe(404);
    expect((await send('/%zz')).status).toBeLessThan(500);
    const failed = await send('/boom', { headers: { accept: 'text/html' } });
    expect(failed).toMatchObject({
      status: 500,
      text: '{"error":{"code":"internal","message":"The request failed on our side.","hint":"Tell an operator this id: req-1"}}',
    });
    expect(failed.text).not.toContain('secret');
    expect(errors).toHaveLength(1);
    expect(JSON.parse((await send('/refuse')).text)).toEqual({
      error: { code: 'rate_limited', message: 'Too fast.', hint: 'Slow down.' },
    });
    expect(await send('/away')).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
  });

  const { handle: _handle, ...elsewhere } = issuer;

  async function whereTo(path: string, basePath = '/'): Promise<string> {
    let taken = 'site';
    const take = (to: string) => (request: IncomingMessage, response: ServerResponse) => {
      taken = `${to} ${request.url}`;
      response.end();
    };
    await listen({
      basePath,
      mcp: take('mcp'),
      alerts: take('alerts'),
      receiver: {
        handle(request, response) {
          if (request.url === '/v1/unknown') return false;
          take('otlp')(request, response);
          return true;
        },
      },
      issuer: elsewhere,
    });
    await send(path, { method: 'POST' });
    return taken;
  }

  it.each([
    ['/mcp', 'mcp /mcp'],
    ['/mcp/', 'mcp /mcp/'],
    ['/mcp?x=1', 'mcp /mcp?x=1'],
    ['/alerts/als_1', 'alerts /alerts/als_1'],
    ['/alerts', 'site'],
    ['/mcpx', 'site'],
    ['/MCP', 'site'],
    ['//mcp', 'site'],
    ['/v1/traces', 'otlp /v1/traces'],
    ['/v1/unknown', 'site'],
    ['/oauth2/token', 'site'],
    ['/', 'site'],
  ])('hands %s to %s', async (path, taken) => {
    expect(await whereTo(path)).toBe(taken);
  });

  it.each([
    ['/sightline/mcp', 'mcp /mcp'],
    ['/mcp', 'mcp /mcp'],
    ['/sightline/v1/logs', 'otlp /v1/logs'],
    ['/sightlinex/mcp', 'site'],
  ])('takes the path of publicUrl off %s, where a proxy has not done so', async (path, taken) => {
    expect(await whereTo(path, '/sightline')).toBe(taken);
  });

  it('refuses what is too much at once by lane, and always answers probes', async () => {
    let held = 0;
    const hold = (): boolean => (held += 1) > 0;
    await listen({
      admission: {
        telemetry: new Admission(1),
        alerts: new Admission(1),
        scim: new Admission(1),
        forms: new Admission(1),
        pages: new Admission(1),
      },
      receiver: { handle: hold },
      alerts: hold,
      issuer: { ...issuer, handle: ({ url }) => url === '/hang' && hold() },
    });
    for (const path of ['/v1/logs', '/alerts/als_1', '/hang']) {
      const request = httpRequest({ port, path, method: 'POST', headers: { host: 'gateway.example' } });
      request.on('error', () => undefined).end();
    }
    while (held < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    const refusals: [string, string, object][] = [
      ['POST', '/v1/logs', { code: 14 }],
      ['POST', '/alerts/als_1', { error: { code: 'overloaded' } }],
      ['POST', '/oauth2/token', { error: { code: 'overloaded' } }],
    ];
    for (const [method, path, body] of refusals) {
      const answer = await send(path, { method });
      expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '1']);
      expect(JSON.parse(answer.text)).toMatchObject(body);
    }
    expect((await send('/')).status).toBe(200);
    expect((await send('/livez')).status).toBe(200);
    expect((await send('/readyz')).status).toBe(200);
  });

  it('refuses a request with two Host fields', async () => {
    await listen();
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: gateway.example\r\nHost: other.example\r\nContent-Length: 0\r\n\r\n');
    const [answer]: Buffer[] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
