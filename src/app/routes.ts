import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Instruments } from '../contract/index.ts';
import { probes } from '../http/app.ts';
import { refuseOverload } from '../http/inflow.ts';
import type { Inflow } from '../http/inflow.ts';
import { inRequest } from '../kernel/request-context.ts';
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
  instruments,
}: Pick<Cradle, 'mcp' | 'alertReceiver' | 'http'> & {
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  readonly inflow: { readonly calls: Inflow; readonly sent: Inflow };
  readonly basePath: string;
  readonly instruments?: Instruments | undefined;
}): Router {
  // A proxy may hand on the path of publicUrl or strip it.
  const prefix = basePath === '/' ? undefined : basePath;
  return (request, response, waits) => {
    const url = request.url ?? '/';
    if (prefix !== undefined && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    const path = pathOf(request.url ?? '/');
    if (instruments) time(instruments, request, response, path);
    const called = path === '/mcp';
    const telemetry = !called && path.startsWith('/v1/');
    const alerts = !called && path.startsWith('/alerts/');
    const lane = telemetry || alerts ? inflow.sent : inflow.calls;
    if (!lane.admit(response) && !probes.has(path)) {
      instruments?.refused('http', 'overloaded');
      return refuseOverload(path, response);
    }
    if (telemetry && receiver.handle(request, response, waits)) return;
    if (alerts) return inRequest(() => alertReceiver(request, response, waits));
    if (waits) response.writeContinue();
    if (called) mcp(request, response);
    else inRequest(() => http(request, response));
  };
}

const named: ReadonlySet<string> = new Set([
  '/',
  '/mcp',
  '/v1/traces',
  '/v1/metrics',
  '/v1/logs',
  '/livez',
  '/readyz',
  '/oauth2/token',
  '/oauth2/authorize',
]);

/** Not a page's own path, in which ids stand. */
function routeOf(path: string): string | undefined {
  if (named.has(path)) return path;
  return path.startsWith('/alerts/') ? '/alerts/{source}' : undefined;
}

function time(instruments: Instruments, { method }: IncomingMessage, response: ServerResponse, path: string): void {
  const since = performance.now();
  response.on('close', () =>
    instruments.httpRequest(method, routeOf(path), response.headersSent ? response.statusCode : undefined, since),
  );
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
