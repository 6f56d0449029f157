import { describe, expect, it } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Inflow } from '../http/admission.ts';
import { admitCalls } from './calls.ts';
import { routes } from './routes.ts';

function whereTo(url: string, basePath = '/'): string {
  let taken = '';
  const listener = routes({
    calls: (request) => (taken = `mcp ${'url' in request ? request.url : ''}`),
    alertReceiver: (request) => (taken = `alerts ${request.url}`),
    http: (request) => (taken = `http ${request.url}`),
    receiver: {
      handle: (request) => {
        if (request.url === '/v1/unknown') return false;
        taken = `otlp ${request.url}`;
        return true;
      },
    },
    inflow: { calls: new Inflow(1), sent: new Inflow(1) },
    basePath,
  });
  const request = new IncomingMessage(new Socket());
  request.url = url;
  listener(request, new ServerResponse(request), false);
  return taken;
}

describe('the routes', () => {
  it.each([
    ['/mcp', 'mcp /mcp'],
    ['/mcp?x=1', 'mcp /mcp?x=1'],
    ['/alerts/als_1', 'alerts /alerts/als_1'],
    ['/alerts', 'http /alerts'],
    ['/mcp/', 'http /mcp/'],
    ['/mcpx', 'http /mcpx'],
    ['/MCP', 'http /MCP'],
    ['//mcp', 'http //mcp'],
    ['/v1/traces', 'otlp /v1/traces'],
    ['/v1/unknown', 'http /v1/unknown'],
    ['/oauth2/token', 'http /oauth2/token'],
    ['/', 'http /'],
  ])('hand %s to %s', (url, taken) => {
    expect(whereTo(url)).toBe(taken);
  });

  it('refuse what is too much at once, telemetry apart from calls, and always answer probes', async () => {
    const taken: string[] = [];
    const take = (request: IncomingMessage): void => void taken.push(request.url ?? '');
    const inflow = { calls: new Inflow(1), sent: new Inflow(1) };
    const listener = routes({
      calls: admitCalls({
        mcp: (request) => taken.push('url' in request ? (request.url ?? '') : ''),
        inflow: inflow.calls,
      }),
      alertReceiver: take,
      http: take,
      receiver: { handle: (request) => taken.push(request.url ?? '') > 0 },
      inflow,
      basePath: '/',
    });
    const responses = ['/v1/logs', '/v1/logs', '/alerts/als_1', '/mcp', '/mcp', '/', '/livez', '/readyz'].map((url) => {
      const request = new IncomingMessage(new Socket());
      request.url = url;
      const response = new ServerResponse(request);
      listener(request, response, false);
      return response;
    });
    // Refusals are sent together, a moment later.
    while (responses.filter(({ headersSent }) => headersSent).length < 4) await delay(1);
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 503, 503, 200, 503, 503, 200, 200]);
    expect(taken).toEqual(['/v1/logs', '/mcp', '/livez', '/readyz']);
  });

  it('take the path of publicUrl off, and work when a proxy has taken it off already', () => {
    expect(whereTo('/sightline/mcp', '/sightline')).toBe('mcp /mcp');
    expect(whereTo('/mcp', '/sightline')).toBe('mcp /mcp');
    expect(whereTo('/sightline/v1/logs', '/sightline')).toBe('otlp /v1/logs');
    expect(whereTo('/sightlinex/mcp', '/sightline')).toBe('http /sightlinex/mcp');
  });
});
