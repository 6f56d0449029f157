import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { SightlineError } from '../../contract/core/index.ts';
import { pagePaths } from '../../contract/issuer/index.ts';
import type { Logger } from '../../contract/core/index.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import { livez, readyz, type HealthReport } from './health.ts';
import { sendError, sendJson } from './json.ts';
import { landingPage } from './landing.ts';
import { clientAddress, hostCheck, onlyGet, onlyOfPages, openToBrowsers, securityHeaders } from './security.ts';

export interface HttpAppOptions {
  readonly issuer: Issuer;
  /** What people see; it passes on what is not of theirs. */
  readonly pages: RequestHandler;
  readonly publicUrl: string;
  readonly authUrl: string;
  /** The MCP endpoint. */
  readonly resource: string;
  /** For people: the name of this installation. */
  readonly resourceName: string;
  /** The RFC 9728 document of the resource. */
  readonly resourceMetadata: object;
  readonly health: () => Promise<HealthReport>;
  /** Whether requests are served: false while starting and while shutting down. */
  readonly ready: () => boolean;
  /** Lower-case `host[:port]`. */
  readonly allowedHosts: readonly string[];
  /** Reverse proxies to believe about the client's address: none, all, or so many. */
  readonly trustProxy: boolean | number;
  /** Of the request that is answered, as the log has it. */
  readonly requestId: () => string;
  readonly logger: Logger;
}

/** What an orchestrator's prober asks, by address and not by name. */
export const probes: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);

/** Everything but the MCP endpoint and the OTLP receiver, which stand before it. */
export function createHttpApp(options: HttpAppOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { issuer, publicUrl, trustProxy } = options;
  const headers = new Map(securityHeaders(publicUrl));
  const dataHeaders = new Map([...headers].filter(([name]) => !onlyOfPages.has(name)));
  const isOurs = hostCheck(options.allowedHosts);
  const app = createSite(options);

  return (request, response) => {
    const { method } = request;
    response.setHeaders(method === 'POST' ? dataHeaders : headers);
    try {
      if (probes.has(request.url)) return app(request, response);
      if (!isOurs(request, response)) return;
      // The issuer comes before Express, which would cost a token a sixth of its time and has nothing to add. What it
      // answers to a POST is data (RFC 6749 §5.1), and headers about pages would cost as much as its audit record.
      if (issuer.handle?.(request, response, clientAddress(request, trustProxy))) return;
      if (method === 'POST') response.setHeaders(headers);
      app(request, response);
    } catch (error) {
      sendFailure(error, response, options);
    }
  };
}

function createSite(options: HttpAppOptions): express.Express {
  const { issuer, authUrl, resource, resourceName, resourceMetadata, logger } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('trust proxy', options.trustProxy);
  // Nothing here reads the query, and a parser that is not there cannot be attacked.
  app.set('query parser', false);

  app.all('/livez', onlyGet, livez);
  app.all('/readyz', onlyGet, readyz(options.ready, options.health, logger));

  // RFC 9728 §3.1 puts the well-known part before the path; older clients ask at the root.
  const name = '/.well-known/oauth-protected-resource';
  app.all(
    [name, `${name}/mcp`, `${name}${new URL(resource).pathname}`],
    openToBrowsers,
    onlyGet,
    (_request, response) => sendJson(response, 200, resourceMetadata, 'public, max-age=300'),
  );

  const token = issuer.handle ? { tokenUrl: `${authUrl}/oauth2/token` } : {};
  const signInUrl = `${authUrl}${pagePaths.signIn}`;
  app.all('/', onlyGet, landingPage({ name: resourceName, resource, signInUrl, ...token }));

  app.use(options.pages);
  app.use((_request, response) => sendError(response, 404, 'not_found', 'There is nothing at this address.'));
  // Express knows an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) =>
    sendFailure(error, response, options);
  app.use(onError);
  return app;
}

function sendFailure(
  error: unknown,
  response: ServerResponse,
  { requestId, logger }: Pick<HttpAppOptions, 'requestId' | 'logger'>,
): void {
  if (response.headersSent) {
    response.destroy();
    logger.error({ error }, 'A response broke off.');
    return;
  }
  if (error instanceof SightlineError) {
    return sendError(response, error.status, error.code, error.message, error.hint);
  }
  // Express's own refusals of a malformed request carry a status.
  if (error instanceof Error && 'status' in error && error.status === 400) {
    return sendError(response, 400, 'invalid_argument', 'The request is malformed.');
  }
  const id = requestId();
  logger.error({ error, request_id: id }, 'A request failed.');
  sendError(response, 500, 'internal', 'The request failed on our side.', `Tell an operator this id: ${id}`);
}
