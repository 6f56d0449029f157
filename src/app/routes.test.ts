import { describe, expect, it } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { routes } from './routes.ts';

function whereTo(url: string, basePath = '/'): string {
  let taken = '';
  const listener = routes({
    mcp: (request) => (taken = `mcp ${request.url}`),
    http: (request) => (taken = `http ${request.url}`),
    receiver: {
      handle: (request) => {
        if (request.url === '/v1/unknown') return false;
        taken = `otlp ${request.url}`;
        return true;
      },
    },
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

  it('take the path of publicUrl off, and work when a proxy has taken it off already', () => {
    expect(whereTo('/sightline/mcp', '/sightline')).toBe('mcp /mcp');
    expect(whereTo('/mcp', '/sightline')).toBe('mcp /mcp');
    expect(whereTo('/sightline/v1/logs', '/sightline')).toBe('otlp /v1/logs');
    expect(whereTo('/sightlinex/mcp', '/sightline')).toBe('http /sightlinex/mcp');
  });
});
