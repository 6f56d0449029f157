import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { hostHint } from '../../mcp/host-check.ts';
import { sendError } from './json.ts';

/** For every answer; a page loosens the policy by what it needs and no more. */
export function securityHeaders(publicUrl: string): ReadonlyMap<string, string> {
  const headers = new Map([
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
    ['Referrer-Policy', 'no-referrer'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
  ]);
  if (publicUrl.startsWith('https:')) headers.set('Strict-Transport-Security', 'max-age=31536000');
  return headers;
}

/** Headers that only matter for answers that a browser renders. */
export const onlyOfPages: ReadonlySet<string> = new Set([
  'Content-Security-Policy',
  'X-Frame-Options',
  'Referrer-Policy',
  'Cross-Origin-Opener-Policy',
]);

/**
 * Refuses requests sent to a name that is not ours: a page of a stranger whose DNS name was made to point here (DNS
 * rebinding) sends its own name as Host. Answers true for a good request, else it has answered.
 * @param allowed lower-case `host[:port]`. One without a port stands for that name at any port, as at the MCP endpoint.
 */
export function hostCheck(
  allowed: readonly string[],
  onRefused: (host: string | undefined) => void,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const names = new Set(allowed);
  return (request, response) => {
    const host = (request.headers.host ?? '').toLowerCase();
    if (names.has(host) || names.has(host.replace(/:\d+$/, ''))) return true;
    onRefused(request.headers.host);
    sendError(response, 403, 'forbidden', 'This server does not answer under the host name of the request.', hostHint);
    return false;
  };
}

/** Each trusted proxy appends to X-Forwarded-For who called it; what stands before that the caller may have written. */
export function clientAddress(request: IncomingMessage, trustProxy: boolean | number): string | undefined {
  const peer = request.socket.remoteAddress;
  const forwarded = trustProxy === false ? undefined : request.headers['x-forwarded-for'];
  if (forwarded === undefined) return peer;
  // Node joins repeated headers of this name by commas.
  const chain = [...forwarded.toString().split(',').map(addressOf), peer].toReversed();
  return chain[trustProxy === true ? chain.length - 1 : Math.min(Number(trustProxy), chain.length - 1)];
}

/** Without the port that some proxies append (RFC 7239 §6): a client must not count as a new one with each connection. */
function addressOf(entry: string): string {
  const text = entry.trim();
  const [, bracketed, plain] = /^"?(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?"?$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

/** RFC 9728 documents are read by clients in browsers too; they hold nothing secret. */
export const openToBrowsers: RequestHandler = (request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*');
  if (request.method !== 'OPTIONS') return next();
  response.writeHead(204, {
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'access-control-max-age': '3600',
  });
  response.end();
};

/**
 * CORS (Fetch, §3.2) for pages that send telemetry. An origin that is not named is told where to name it, so that a refused
 * preflight can be read in the browser's network panel.
 */
export function openToSenders(origins: readonly string[]): RequestHandler {
  return (request, response, next) => {
    const { origin, 'access-control-request-headers': asked = 'content-type' } = request.headers;
    if (origin === undefined) return next();
    response.setHeader('Vary', 'Origin');
    const named = origins.includes(origin) || origins.includes('*');
    if (named) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
    }
    if (request.method !== 'OPTIONS') return next();
    if (!named) return sendError(response, 403, 'forbidden', 'No page of this origin may send here.', corsHint);
    const headers = { 'allow-methods': 'POST', 'allow-headers': asked, 'max-age': '7200' };
    for (const [name, value] of Object.entries(headers)) response.setHeader(`Access-Control-${name}`, value);
    response.writeHead(204).end();
  };
}

const corsHint = 'An operator names it in the configuration: ingest.cors.origins.';

export const onlyGet: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next();
  response.setHeader('Allow', 'GET, HEAD');
  sendError(response, 405, 'invalid_argument', 'This is read by GET.');
};
