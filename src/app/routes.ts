import type { OtlpReceiver } from '../otlp/receiver.ts';
import type { Cradle, Listener } from './cradle.ts';

/** The MCP endpoint and the OTLP receiver stand before Express, which would cost each call as much again. */
export function routes({
  mcp,
  receiver,
  http,
  basePath,
}: Pick<Cradle, 'mcp' | 'http'> & {
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  readonly basePath: string;
}): Listener {
  // A proxy may hand on the path of publicUrl or strip it.
  const prefix = basePath === '/' ? undefined : basePath;
  return (request, response) => {
    const url = request.url ?? '/';
    if (prefix !== undefined && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    const path = pathOf(request.url ?? '/');
    if (path === '/mcp') mcp(request, response);
    else if (!path.startsWith('/v1/') || !receiver.handle(request, response)) http(request, response);
  };
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
