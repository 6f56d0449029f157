import type { IncomingMessage, ServerResponse } from 'node:http';
import { authorizationServerMetadata, authorizePath, jwksPath } from './metadata.ts';
import { tokenPath } from './provider.ts';

/** A token request is a few hundred bytes. */
const maxBodyBytes = 16_384;
/** Seconds. Key sets change long before they are needed, see `publishBefore`. */
export const documentCacheSeconds = 300;

export interface EndpointsOptions {
  readonly issuer: string;
  /** JSON text of the key set. */
  readonly jwks: () => string;
  /** Takes a POST to the token endpoint, its URL reduced to `tokenPath`. */
  readonly token: (request: IncomingMessage, response: ServerResponse) => void;
}

const forwarded = ['x-forwarded-host', 'x-forwarded-proto'] as const;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The issuer's paths and nothing else: answers false, having touched nothing, for every other one. */
export function createEndpoints({ issuer, jwks, token }: EndpointsOptions): (...args: Parameters<Answer>) => boolean {
  const url = new URL(issuer);
  const prefix = url.pathname.replace(/\/$/, '');
  const metadata = JSON.stringify(authorizationServerMetadata(issuer));
  const document = readOnly(() => metadata);

  const exchange: Answer = (request, response) => {
    if (request.method !== 'POST') return refuse(response, 405, 'a token is had by POST', { allow: 'POST, OPTIONS' });
    // RFC 6749 §2.3.1: credentials must not be in the URI, where every proxy on the way writes them down.
    if (/[?&]client_(?:secret|assertion)/i.test(request.url ?? '')) {
      return refuse(response, 400, 'credentials belong in the body or the Authorization header, not in the URL');
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      return refuse(response, 413, 'the request body is too large', { connection: 'close' });
    }
    // The library builds URLs from Host and X-Forwarded-Proto, and reads the query: it gets the issuer's own instead.
    request.headers.host = url.host;
    for (const name of forwarded) if (request.headers[name] !== undefined) delete request.headers[name];
    request.url = tokenPath;
    return token(request, response);
  };

  const paths = new Map<string, Answer>();
  // A reverse proxy may pass the issuer's path on or cut it off.
  for (const base of new Set([prefix, ''])) {
    paths.set(`${base}${tokenPath}`, withCors('POST', exchange));
    paths.set(`${base}${jwksPath}`, withCors('GET', readOnly(jwks, 'application/jwk-set+json')));
    paths.set(`${base}${authorizePath}`, noBrowserSignIn);
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      paths.set(`${base}/.well-known/${name}`, withCors('GET', document));
      // RFC 8414 §3: the well-known part goes in front of the issuer's path.
      paths.set(`/.well-known/${name}${base}`, withCors('GET', document));
    }
  }

  return (request, response) => {
    const target = request.url ?? '';
    const query = target.indexOf('?');
    const answer = paths.get(query === -1 ? target : target.slice(0, query));
    answer?.(request, response);
    return answer !== undefined;
  };
}

/**
 * Browser-side clients read these documents and exchange their keys here; no cookie is involved, so any origin may. With
 * the header set, oidc-provider leaves out its own rule, which refuses an Origin that a client did not register.
 */
function withCors(method: string, answer: Answer): Answer {
  return (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (request.method !== 'OPTIONS') {
      response.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
      return answer(request, response);
    }
    response.writeHead(204, {
      'access-control-allow-methods': method,
      'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
      'access-control-max-age': '3600',
    });
    response.end();
  };
}

function readOnly(text: () => string, type = 'application/json'): Answer {
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(response, 405, 'this document is read by GET', { allow: 'GET, HEAD, OPTIONS' });
    }
    const body = text();
    response.writeHead(200, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': `public, max-age=${documentCacheSeconds}`,
      'x-content-type-options': 'nosniff',
    });
    response.end(body);
  };
}

/** Never a redirect: whoever sent the browser here is unknown. */
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
  const body = JSON.stringify({ error, error_description: description });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(body);
}
