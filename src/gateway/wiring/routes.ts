import type { Instruments } from '../../contract/core/index.ts';
import { probes } from '../http/app.ts';
import { refuseOverload } from '../http/admission.ts';
import { inRequest } from '../process/request-context.ts';
import type { OtlpReceiver } from '../../telemetry/ingest/receiver.ts';
import type { Cradle, Router } from './cradle.ts';
import { timeRequest } from './time-request.ts';

/**
 * The MCP endpoint and the receivers stand before Express, which would cost each call as much again. What is too much at once
 * is refused before all of them; telemetry and alerts, which are many, do not keep out calls. Probes are always answered.
 */
export function routes({
  calls,
  receiver,
  alertReceiver,
  http,
  inflow,
  basePath,
  instruments,
}: Pick<Cradle, 'calls' | 'alertReceiver' | 'http' | 'inflow'> & {
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  readonly basePath: string;
  readonly instruments?: Instruments | undefined;
}): Router {
  // A proxy may hand on the path of publicUrl or strip it.
  const prefix = basePath === '/' ? undefined : basePath;
  return (request, response, waits) => {
    const url = request.url ?? '/';
    if (prefix !== undefined && url.startsWith(`${prefix}/`)) request.url = url.slice(prefix.length);
    const path = pathOf(request.url ?? '/');
    if (path === '/mcp') return calls(request, response, waits ? () => response.writeContinue() : undefined);
    if (instruments) timeRequest(instruments, request, response, routeOf(path));
    const telemetry = path.startsWith('/v1/');
    const alerts = path.startsWith('/alerts/');
    const lane = telemetry || alerts ? inflow.sent : inflow.calls;
    if (!lane.admit(response) && !probes.has(path)) {
      instruments?.refused('http', 'overloaded');
      return refuseOverload(path, response);
    }
    if (telemetry && receiver.handle(request, response, waits)) return;
    if (alerts) return inRequest(() => alertReceiver(request, response, waits));
    if (waits) response.writeContinue();
    inRequest(() => http(request, response));
  };
}

const named: ReadonlySet<string> = new Set([
  '/',
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

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
