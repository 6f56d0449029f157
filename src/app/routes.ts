import { probes } from '../http/app.ts';
import { refuseOverload } from '../http/inflow.ts';
import type { Inflow } from '../http/inflow.ts';
import type { OtlpReceiver } from '../otlp/receiver.ts';
import type { Cradle, Router } from './cradle.ts';

/**
 * The MCP endpoint and the receivers stand before Express, which would cost each call as much again. What is too much at once
 * is refused before all of them; telemetry and alerts, which are many, do not keep out calls. Probes are always answered.
 */
export function routes({
  mcp,
  receiver,
  alertReceiver,
  http,
  inflow,
  basePath,
}: Pick<Cradle, 'mcp' | 'alertReceiver' | 'http'> & {
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  readonly inflow: { readonly calls: Inflow; readonly sent: Inflow };
  readonly basePath: string;
}): Router {
  // A proxy may hand on the path of publicUrl or strip it.
  const prefix = basePath === '/' ? undefined : basePath;
  return (request, response, waits) => {
    const url = request.url ?? '/';
    if (prefix !== undefined && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    const path = pathOf(request.url ?? '/');
    const lane = path.startsWith('/v1/') || path.startsWith('/alerts/') ? inflow.sent : inflow.calls;
    if (!lane.admit(response) && !probes.has(path)) return refuseOverload(path, response);
    if (path.startsWith('/v1/') && receiver.handle(request, response, waits)) return;
    if (path.startsWith('/alerts/')) return alertReceiver(request, response, waits);
    if (waits) response.writeContinue();
    if (path === '/mcp') mcp(request, response);
    else http(request, response);
  };
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
