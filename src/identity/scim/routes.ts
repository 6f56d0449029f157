import type { IncomingMessage } from 'node:http';
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import {
  isObject,
  nestsDeeperThan,
  parseJson,
  requestWithin,
  shortened,
  SightlineError,
  type JsonObject,
  type Logger,
} from '../../contract/core/index.ts';
import { createThrottle } from '../../limits/rate-limit.ts';
import type { ScimTokens } from '../verify/scim-tokens.ts';
import { truth } from './patch.ts';
import type { Provisioning, Resource } from './provisioning.ts';
import { FilterError } from './query.ts';
import { discover, type Json } from './schema.ts';

interface RouteOptions {
  readonly tokens: Pick<ScimTokens, 'authenticate'>;
  readonly provisioning: Provisioning;
  /** Where resources are, without a slash at the end. */
  readonly base: string;
  readonly requestId: () => string;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Entra ID may send 25 a second. */
const rate = { perMinute: 3_000, burst: 300 };
const mostBodyBytes = 1_048_576;

/** SCIM 2.0 (RFC 7644), for identity providers. Who asks is known before anything of the request is read. */
export function createScimRoutes({ tokens, provisioning, base, requestId, now, logger }: RouteOptions): Router {
  const router = express.Router({ caseSensitive: true });
  const wait = createThrottle({ ...rate, now });

  router.use(async (request: Request, response: Response) => {
    const caller = await tokens.authenticate(bearerOf(request));
    if (caller === undefined) {
      response.setHeader('WWW-Authenticate', 'Bearer realm="SCIM"');
      throw new SightlineError('invalid_token', 'This takes a SCIM token of an organization, and nothing else.', {
        hint: 'An admin makes one on the page Integrations, Provisioning.',
      });
    }
    const seconds = wait(caller.id);
    if (seconds > 0) {
      throw new SightlineError('rate_limited', 'There were too many requests with this token.', {
        retryAfterSeconds: seconds,
      });
    }
    const [path = '', search = ''] = request.url.split('?', 2);
    const query = new URLSearchParams(search);
    const [kind = '', id, ...rest] = path.split('/').filter((part) => part !== '');
    const resources = await provisioning(caller);
    if ((kind === 'Users' || kind === 'Groups') && rest.length === 0) {
      return answer(request, response, resources[kind], id, query);
    }
    const document = request.method === 'GET' ? await discover(path, base) : undefined;
    if (document === undefined) throw new SightlineError('not_found', 'There is no such SCIM endpoint.');
    send(response, 200, document);
  });

  // Express knows an error handler by its four parameters.
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
    if (error instanceof SightlineError && error.code !== 'internal') return sendError(response, error);
    const id = requestId();
    logger.error({ error, request_id: id }, 'A SCIM request failed.');
    const hint = `Tell an operator this id: ${id}`;
    sendError(response, new SightlineError('internal', 'The request failed on our side.', { hint }));
  };
  router.use(onError);
  return router;
}

async function answer(
  request: Request,
  response: Response,
  resource: Resource,
  id: string | undefined,
  query: URLSearchParams,
): Promise<void> {
  if (id === undefined) {
    if (request.method === 'GET') return send(response, 200, await resource.list(query));
    if (request.method === 'POST') {
      const made = await resource.create(await readBody(request), query);
      const { meta } = made;
      if (isObject(meta) && typeof meta['location'] === 'string') response.setHeader('Location', meta['location']);
      return send(response, 201, made);
    }
  } else {
    switch (request.method) {
      case 'GET':
        return send(response, 200, await resource.get(id, query));
      case 'PUT':
        return send(response, 200, await resource.replace(id, await readBody(request), query));
      case 'PATCH':
        return send(response, 200, await resource.patch(id, await readBody(request), query));
      case 'DELETE':
        await resource.remove(id);
        response.writeHead(204).end();
        return;
      default:
    }
  }
  response.setHeader('Allow', id === undefined ? 'GET, POST' : 'GET, PUT, PATCH, DELETE');
  sendError(response, new SightlineError('invalid_argument', 'This method is not supported here.'), 405);
}

function bearerOf({ headers }: IncomingMessage): string {
  return /^Bearer +(\S{1,200})$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** JSON of at most 1 MB and eight levels, with booleans that were written as texts. */
async function readBody(request: Request): Promise<Json> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/scim+json' && type !== 'application/json') {
    throw new SightlineError('invalid_argument', 'The body is sent as application/scim+json.');
  }
  const json = await requestWithin(request, mostBodyBytes);
  if (json === undefined) throw new SightlineError('payload_too_large', 'The body is larger than 1 MB.');
  const body = nestsDeeperThan(json, mostLevels) ? undefined : parseJson(json.toString('utf8'));
  if (isObject(body)) return cleanObject(body);
  throw new SightlineError('invalid_argument', `The body is no JSON object of at most ${mostLevels} levels.`);
}

const mostLevels = 8;
const longestText = 4_096;

function clean(value: unknown): unknown {
  if (typeof value === 'string' && value.length > longestText) {
    throw new SightlineError('invalid_argument', `A text in the body is longer than ${longestText} characters.`);
  }
  if (Array.isArray(value)) return value.map(clean);
  return isObject(value) ? cleanObject(value) : value;
}

/** Parts of names that lead to what all objects share, where the schema takes `urn:…:User:a.b` apart and assigns to it. */
const inherited = /(?:^|[.:])(?:__proto__|constructor|prototype)(?:[.:]|$)/i;

function cleanObject(value: JsonObject): Json {
  for (const name of Object.keys(value)) {
    if (inherited.test(name)) throw new SightlineError('invalid_argument', `${shortened(name, 80)} is no attribute.`);
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, truth(key, clean(each))]));
}

function send(response: Response, status: number, body: Json): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/scim+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
  });
  response.end(text);
}

/** RFC 7644 §3.12. */
function sendError(response: Response, error: SightlineError, status = error.status): void {
  if (response.headersSent) return void response.destroy();
  const { code, message, hint, retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
  const type = error instanceof FilterError ? 'invalidFilter' : code === 'conflict' ? 'uniqueness' : undefined;
  const scimType = type ?? (status === 400 ? 'invalidValue' : undefined);
  send(response, status, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: hint === undefined ? message : `${message} ${hint}`,
  });
}
