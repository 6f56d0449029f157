import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorizationQuery } from './scopes.ts';
import type { IssuerHost } from '../../contract/core/index.ts';
import { registrationPath } from './clients/index.ts';
import { answer, answersPreflight } from './clients/registration.ts';
import { callerOf } from '../../limits/network.ts';
import { createThrottle } from '../../limits/rate-limit.ts';
import { errorPage, errorPageHeaders, failureOf } from './error-page.ts';
import { authorizePath, jwksPath, revocationPath, tokenPath } from './metadata.ts';

/** A token request is a few hundred bytes. */
const maxBodyBytes = 16_384;
/** Seconds. Key sets change long before they are needed, see `publishBefore`. */
export const documentCacheSeconds = 300;

/** Authorizations that one address may begin: each is kept for an hour. A company's people come from one. */
const authorizations = { perMinute: 300, burst: 600 };

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface EndpointsOptions extends Pick<IssuerHost, 'resource' | 'now'> {
  readonly issuer: string;
  /** JSON text, as `jwks` answers. */
  readonly metadata: () => Promise<string>;
  readonly jwks: () => string;
  /** Runs the protocol library, on a request whose URL, host and scheme are the issuer's. */
  readonly protocol: Answer;
  /** Whether people may authorize clients here. */
  readonly people: boolean;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Takes every method, and answers a page of any origin. */
  readonly register: Answer;
}

/** The issuer's paths and nothing else: answers false, having touched nothing, for every other one. */
export function createEndpoints(options: EndpointsOptions): (...args: Parameters<Answer>) => boolean {
  const { issuer, resource, metadata, jwks, protocol, people, register, addressOf, now } = options;
  const prefix = new URL(issuer).pathname.replace(/\/$/, '');
  const enter = entrance(new URL(issuer), prefix);
  const document = readOnly(metadata);
  const throttle = createThrottle({ ...authorizations, now });

  /** A POST by a client, which no browser's cookie or page has a part in. */
  const posted = (path: string, run: Answer): Answer =>
    withCors('POST', (request, response) => {
      if (request.method !== 'POST') return refuse(response, 405, 'use POST', { allow: 'POST, OPTIONS' });
      // RFC 6749 §2.3.1: credentials must not be in the URI, where every proxy on the way writes them down.
      if (/[?&](?:client_secret|client_assertion|assertion|token|refresh_token|code)=/i.test(request.url ?? '')) {
        return refuse(response, 400, 'credentials belong in the body or the Authorization header, not in the URL');
      }
      if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
        return refuse(response, 413, 'the request body is too large', { connection: 'close' });
      }
      enter(request, path);
      return run(request, response);
    });

  const authorize: Answer = (request, response) => {
    if (request.method !== 'GET') return refuse(response, 405, 'a browser comes here by GET', { allow: 'GET' });
    const wait = throttle(callerOf(addressOf(request)));
    if (wait > 0) return showFailure(response, 429, 'slow_down', wait);
    const [, query = ''] = split(request.url ?? '');
    enter(request, `${authorizePath}?${authorizationQuery(query, resource)}`);
    return protocol(request, response);
  };

  /** Back from the consent page, to be sent on to the client. */
  const resume =
    (id: string): Answer =>
    (request, response) => {
      if (request.method !== 'GET') return refuse(response, 405, 'a browser comes here by GET', { allow: 'GET' });
      enter(request, `${authorizePath}/${id}`);
      return protocol(request, response);
    };

  const answers = new Map<string, Answer>();
  // A reverse proxy may pass the issuer's path on or cut it off.
  const bases = [...new Set([prefix, ''])];
  for (const base of bases) {
    answers.set(`${base}${tokenPath}`, posted(tokenPath, protocol));
    answers.set(`${base}${jwksPath}`, withCors('GET', readOnly(jwks, 'application/jwk-set+json')));
    answers.set(`${base}${authorizePath}`, people ? authorize : noBrowserSignIn);
    if (people) {
      answers.set(`${base}${revocationPath}`, posted(revocationPath, protocol));
      answers.set(`${base}${registrationPath}`, register);
    }
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      answers.set(`${base}/.well-known/${name}`, withCors('GET', document));
      // RFC 8414 §3: the well-known part goes in front of the issuer's path.
      answers.set(`/.well-known/${name}${base}`, withCors('GET', document));
    }
  }

  const resumed = (path: string): Answer | undefined => {
    for (const base of bases) {
      const start = `${base}${authorizePath}/`;
      const id = path.startsWith(start) ? path.slice(start.length) : '';
      if (/^[A-Za-z0-9_-]{20,64}$/.test(id)) return resume(id);
    }
    return undefined;
  };

  return (request, response) => {
    const [path] = split(request.url ?? '');
    const found = answers.get(path) ?? (people ? resumed(path) : undefined);
    found?.(request, response);
    return found !== undefined;
  };
}

/** The library builds URLs from Host and X-Forwarded-Proto, and reads the query: it gets the issuer's own instead. */
function entrance(issuer: URL, prefix: string): (request: IncomingMessage, url: string) => void {
  const scheme = issuer.protocol.slice(0, -1);
  return (request, url) => {
    const { headers } = request;
    headers.host = issuer.host;
    for (const name of ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-for']) delete headers[name];
    headers['x-forwarded-proto'] = scheme;
    // As Express does for what is mounted below a path.
    if (prefix !== '') Object.assign(request, { baseUrl: prefix });
    request.url = url;
  };
}

function split(target: string): readonly [path: string, query?: string] {
  const query = target.indexOf('?');
  return query === -1 ? [target] : [target.slice(0, query), target.slice(query + 1)];
}

/** Browser-side clients read these documents and exchange here. */
function withCors(method: string, run: Answer): Answer {
  return (request, response) => {
    if (!answersPreflight(request, response, method)) run(request, response);
  };
}

function readOnly(text: () => string | Promise<string>, type = 'application/json'): Answer {
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(response, 405, 'this document is read by GET', { allow: 'GET, HEAD, OPTIONS' });
    }
    const send = (body: string): void => {
      response.writeHead(200, {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'cache-control': `public, max-age=${documentCacheSeconds}`,
        'x-content-type-options': 'nosniff',
      });
      response.end(body);
    };
    const body = text();
    if (typeof body === 'string') send(body);
    else void body.then(send);
  };
}

function showFailure(response: ServerResponse, status: number, code: string, retryAfter: number): void {
  const page = errorPage(failureOf(code, undefined));
  response.writeHead(status, {
    ...errorPageHeaders,
    'content-length': Buffer.byteLength(page),
    'retry-after': String(retryAfter),
  });
  response.end(page);
}

/** Never a redirect: the client that sent the browser is not verified. */
const noBrowserSignIn: Answer = (_request, response) =>
  refuse(
    response,
    400,
    'signing in with a browser is not available here; use an API key',
    {},
    'unsupported_response_type',
  );

function refuse(
  response: ServerResponse,
  status: number,
  description: string,
  headers: Readonly<Record<string, string>> = {},
  error = 'invalid_request',
): void {
  answer(response, status, { error, error_description: description }, headers);
}
