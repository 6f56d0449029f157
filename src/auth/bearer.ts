import type { IncomingMessage } from 'node:http';

/** Tokens of enterprise providers reach 8 kB; Node's own limit on all headers is 16 kB. */
export const maxTokenLength = 12 * 1024;

/**
 * The bearer token of a request, from the Authorization header alone: never from the query, which ends up in logs, nor from
 * the body (OAuth 2.1 §5.1). Undefined where there is none or it is not written like one.
 */
export function readBearer(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > maxTokenLength) return undefined;
  // RFC 6750 §2.1: b64token.
  return /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header)?.[1];
}
