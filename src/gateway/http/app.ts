import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { SightlineError, type Instruments, type Logger } from '../../contract/core/index.ts';
import { pagePaths, scimPath, type Issuer } from '../../contract/issuer/index.ts';
import { asAsked } from '../../identity/verify/challenge.ts';
import type { AlertReceiver } from '../../incidents/alerts/receiver.ts';
import { type Admission, expectsContinue, refuseOverload } from '../../limits/admission.ts';
import { onceEach } from '../../limits/once-each.ts';
import type { McpListener } from '../../mcp/handler.ts';
import { ambiguous, isUnambiguous, noteRefusedHosts } from '../../mcp/host-check.ts';
import type { OtlpReceiver } from '../../telemetry/ingest/receiver.ts';
import { inRequest } from '../process/logger.ts';
import type { Urls } from '../wiring/urls.ts';
import { type HealthReport, livez, readyz } from './health.ts';
import { sendError, sendJson } from './json.ts';
import { landingPage } from './landing.ts';
import {
  clientAddress,
  hostCheck,
  onlyGet,
  onlyOfPages,
  openToBrowsers,
  openToSenders,
  securityHeaders,
} from './security.ts';
import { adoptMessages, type Messages } from './server.ts';

const unbelieved =
  'A request came with X-Forwarded-For, which is not believed: limits count all people behind a proxy as one network. ' +
  'If the proxy is yours, set trustProxy in the configuration to the number of proxies.';

/** What an error thrown by a route becomes. Only our own words are sent; the rest is logged under the request's id. */
function sendFailure(
  error: unknown,
  response: ServerResponse,
  { requestId, logger }: Pick<AppOptions, 'requestId' | 'logger'>,
): void {
  if (response.headersSent) {
    response.destroy();
    logger.error({ error }, 'A response broke off.');
    return;
  }
  if (error instanceof SightlineError) {
    const { retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', Math.max(1, Math.ceil(retryAfterSeconds)));
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

export interface AppOptions extends Pick<Urls, 'publicUrl' | 'authUrl' | 'basePath' | 'resource' | 'allowedHosts'> {
  readonly mcp: McpListener;
  readonly receiver: Pick<OtlpReceiver, 'handle'>;
  /** Browser origins that may send telemetry; `*` is any. */
  readonly senderOrigins: readonly string[];
  readonly alerts: AlertReceiver;
  readonly admin: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly issuer: Issuer;
  /** What people see; it passes on requests for other paths. */
  readonly pages: RequestHandler;
  /** For identity providers that provision people. */
  readonly scim: RequestHandler;
  readonly admission: Lanes;
  /** For people: the name of this installation. */
  readonly resourceName: string;
  /** The RFC 9728 document of the resource. */
  readonly resourceMetadata: object;
  readonly health: () => Promise<HealthReport>;
  /** Whether requests are served: false while starting and while shutting down. */
  readonly ready: () => boolean;
  /** Reverse proxies to believe about the client's address: none, all, or so many. */
  readonly trustProxy: boolean | number;
  /** Of the server that the app answers for, where that is known. */
  readonly messages?: Messages | undefined;
  /** Of the request that is answered, as the log has it. */
  readonly requestId: () => string;
  readonly instruments: Instruments | undefined;
  readonly logger: Logger;
}

/** Strangers fill at most the lanes of what needs no token; MCP calls have their own, behind the bearer check. */
export interface Lanes {
  readonly telemetry: Admission;
  readonly alerts: Admission;
  readonly scim: Admission;
  /** Everything that is posted elsewhere: token exchange, sign-in and other forms. */
  readonly forms: Admission;
  readonly pages: Admission;
}

/** The gateway's Express app: every route, in the order in which they are tried. */
export function createApp(options: AppOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { mcp, issuer, admission, instruments, authUrl, resource, publicUrl, trustProxy, logger } = options;
  const app = express();
  if (options.messages) adoptMessages(app, options.messages);
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('trust proxy', trustProxy);
  // Nothing reads the query through Express, and a parser that is absent cannot be attacked.
  app.set('query parser', false);

  const pageHeaders = new Map(securityHeaders(publicUrl));
  const dataHeaders = new Map([...pageHeaders].filter(([name]) => !onlyOfPages.has(name)));
  /** An answer to a POST is data until a page gives it (RFC 6749 §5.1). */
  const headers: RequestHandler = (request, response, next) => {
    response.setHeaders(request.method === 'POST' ? dataHeaders : pageHeaders);
    next();
  };
  const telemetry: RequestHandler = (request, response, next) => {
    if (!options.receiver.handle(request, response, expectsContinue(request))) next();
  };
  const alerts: RequestHandler = (request, response) => options.alerts(request, response, expectsContinue(request));
  const isOurs = hostCheck(options.allowedHosts, noteRefusedHosts(logger));
  const noteUnbelieved = onceEach(() => logger.warn({ trustProxy }, unbelieved));
  const ours: RequestHandler = (request, response, next) => {
    if (!isOurs(request, response)) return;
    if (trustProxy === false && request.headers['x-forwarded-for'] !== undefined) noteUnbelieved('');
    if (expectsContinue(request)) response.writeContinue();
    next();
  };
  const oauth: RequestHandler = (request, response, next) => {
    if (issuer.handle?.(request, response, clientAddress(request, trustProxy)) === true) return;
    if (request.method === 'POST') response.setHeaders(pageHeaders);
    next();
  };
  // Express knows an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) =>
    sendFailure(error, response, options);

  // First, and nearly without middleware: the handler checks Host, Origin and token, and this is the hottest route.
  app.all('/mcp', instruments ? [timed(instruments), mcp] : mcp);
  if (instruments) app.use(timed(instruments));
  app.use((request, response, next) => {
    if (isUnambiguous(request)) return next();
    sendError(response, 400, 'invalid_argument', ambiguous);
  });
  app.all('/livez', headers, onlyGet, livez);
  app.all('/readyz', headers, onlyGet, readyz(options.ready, options.health, logger));
  // OTLP at /v1/{traces,metrics,logs}; deploys and flags at /v1/changes.
  app.all(
    /^\/+(?:otlp\/+)?v1\//,
    openToSenders(options.senderOrigins),
    admitted(() => admission.telemetry, instruments),
    telemetry,
  );
  app.use((_request, _response, next) => inRequest(next));
  app.all(
    /^\/alerts\//,
    admitted(() => admission.alerts, instruments),
    alerts,
  );

  app.use(
    scimPath,
    headers,
    admitted(() => admission.scim, instruments),
    ours,
    options.scim,
  );
  const lane = ({ method }: IncomingMessage): Admission => (method === 'POST' ? admission.forms : admission.pages);
  app.use(headers, admitted(lane, instruments), ours);
  app.all(/^\/admin\/v1\//, (request, response) => options.admin(request, response));
  app.use(oauth);
  // RFC 9728 §3.1 puts the well-known part before the path; older clients ask at the root.
  const name = '/.well-known/oauth-protected-resource';
  app.all(
    [name, `${name}/mcp`, `${name}${new URL(resource).pathname}`],
    openToBrowsers,
    onlyGet,
    (request, response) => {
      const document = { ...options.resourceMetadata, resource: asAsked(resource, request) };
      sendJson(response, 200, document, 'public, max-age=300');
    },
  );
  const token = issuer.handle ? { tokenUrl: `${authUrl}/oauth2/token` } : {};
  const signInUrl = `${authUrl}${pagePaths.signIn}`;
  app.post('/', (_request, response) => {
    response.setHeader('Allow', 'GET, HEAD');
    const hint = `The MCP endpoint is ${resource}. OTLP is sent to ${publicUrl}/v1/traces, /v1/metrics and /v1/logs.`;
    sendError(response, 405, 'invalid_argument', 'This address is a page.', hint);
  });
  app.all('/', onlyGet, landingPage({ name: options.resourceName, resource, signInUrl, ...token }));
  app.use(options.pages);
  app.use((_request, response) => sendError(response, 404, 'not_found', 'There is nothing at this address.'));
  app.use(onError);

  return withoutBasePath(options.basePath, app);
}

/** Lets a request in where its lane has room, else refuses it with 503. */
function admitted(
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
  '/v1/changes',
  '/livez',
  '/readyz',
  '/oauth2/token',
  '/oauth2/authorize',
]);

/** Records how long a request takes, and its status. */
function timed(instruments: Instruments): RequestHandler {
  return ({ method, path }, response, next) => {
    const since = performance.now();
    const route = named.has(path) ? path : routeOf(path);
    response.on('close', () =>
      instruments.httpRequest(method, route, response.headersSent ? response.statusCode : undefined, since),
    );
    next();
  };
}

function routeOf(path: string): string | undefined {
  if (path.startsWith('/alerts/')) return '/alerts/{source}';
  return path.startsWith(`${scimPath}/`) ? scimPath : undefined;
}

/** Takes the path of publicUrl off, where a proxy has not done so already. */
function withoutBasePath(basePath: string, listener: RequestListener): RequestListener {
  if (basePath === '/') return listener;
  return (request, response) => {
    const { url = '/' } = request;
    if (url.startsWith(`${basePath}/`)) request.url = url.slice(basePath.length);
    listener(request, response);
  };
}
