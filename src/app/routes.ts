import type { OtlpReceiver } from '../otlp/receiver.ts';
import type { Cradle, Router } from './cradle.ts';

/** The MCP endpoint and the OTLP receiver stand before Express, which would cost each call as much again. */
export function routes({
  mcp,
  receiver,
  http,
  basePath,
}: Pick<Cradle, 'mcp' | 'http'> & {
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  readonly basePath: string;
}): Router {
  // A proxy may hand on the path of publicUrl or strip it.
  const prefix = basePath === '/' ? undefined : basePath;
  return (request, response, waits) => {
    const url = request.url ?? '/';
    if (prefix !== undefined && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    const path = pathOf(request.url ?? '/');
    if (path.startsWith('/v1/') && receiver.handle(request, response, waits)) return;
    if (waits) response.writeContinue();
    if (path === '/mcp') mcp(request, response);
    else http(request, response);
  };
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
