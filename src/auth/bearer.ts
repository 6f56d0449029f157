import type { IncomingMessage } from 'node:http';

/** Tokens of enterprise providers reach 8 kB; Node's own limit on all headers is 16 kB. */
export const maxTokenLength = 12 * 1024;

/**
 * What may hold a token: the Authorization header alone, never the query, which ends up in logs, nor the body (OAuth 2.1 §5.1).
 * Undefined where it is missing or too long.
 */
export function authorizationOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  return header === undefined || header.length > maxTokenLength ? undefined : header;
}

/** The bearer token in it (RFC 6750 §2.1: b64token). Undefined where it is not written like one. */
export function readBearer(authorization: string): string | undefined {
  return /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization)?.[1];
}
