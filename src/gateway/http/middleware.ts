import type { IncomingMessage, RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import type { Instruments } from '../../contract/core/index.ts';
import { refuseOverload, type Admission } from '../../limits/admission.ts';

/** Lets a request in where its lane has room, else refuses it with 503. */
export function admitted(
  laneOf: (request: IncomingMessage) => Admission,
  instruments: Instruments | undefined,
): RequestHandler {
  return (request, response, next) => {
    if (laneOf(request).admit(request.socket, response)) return next();
    instruments?.refused('http', 'overloaded');
    refuseOverload(request, response);
  };
}

/** Routes whose path is a metrics label. Paths of pages hold ids and would make too many series. */
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

/** Records how long a request takes, and its status. */
export function timed(instruments: Instruments): RequestHandler {
  return ({ method, path }, response, next) => {
    const since = performance.now();
    const route = named.has(path) ? path : path.startsWith('/alerts/') ? '/alerts/{source}' : undefined;
    response.on('close', () =>
      instruments.httpRequest(method, route, response.headersSent ? response.statusCode : undefined, since),
    );
    next();
  };
}

/** Takes the path of publicUrl off, where a proxy has not done so already. */
export function withoutBasePath(basePath: string, listener: RequestListener): RequestListener {
  if (basePath === '/') return listener;
  return (request, response) => {
    const { url = '/' } = request;
    if (url.startsWith(`${basePath}/`)) request.url = url.slice(basePath.length);
    listener(request, response);
  };
}
