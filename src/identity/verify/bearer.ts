import type { IncomingMessage } from 'node:http';

/** Tokens of enterprise providers reach 8 kB; Node's own limit on all headers is 16 kB. */
const maxTokenLength = 12 * 1024;
/**
 * What a request sends as its bearer token, from the Authorization header alone: never from the query, which ends up in logs,
 * nor from the body (OAuth 2.1 §5.1). Undefined where there is none. Whether it is written like one is not looked at.
 */
export function readBearer(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > maxTokenLength) return undefined;
  // As nearly all write it.
  if (header.startsWith('Bearer ') && header[7] !== ' ') return header.slice(7);
  const scheme = /^bearer +/i.exec(header)?.[0];
  return scheme === undefined ? undefined : header.slice(scheme.length);
}

/** RFC 6750 §2.1: b64token. */
export function isBearerToken(text: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text);
}
