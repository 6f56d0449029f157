import type { ServerResponse } from 'node:http';
import type { Html } from './html.ts';

/** @param formAction a CSP source besides our own. Chromium holds the redirects after a POST against it, too. */
export function contentSecurityPolicy(formAction?: string): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    `form-action 'self'${formAction === undefined ? '' : ` ${formAction}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

export interface Document {
  readonly status: number;
  readonly document: Html;
  readonly formAction?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

export function sendDocument(response: ServerResponse, answer: Document): void {
  const body = Buffer.from(answer.document.toString());
  securePage(response, answer.formAction);
  if (answer.retryAfterSeconds !== undefined) response.setHeader('Retry-After', Math.ceil(answer.retryAfterSeconds));
  response.writeHead(answer.status, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

/** 303: the browser goes on with GET, and reloading sends no form again. */
export function sendRedirect(response: ServerResponse, location: string): void {
  securePage(response);
  response.writeHead(303, { location, 'content-length': 0 });
  response.end();
}

/** What a page is safe by, whoever has set other headers before. */
function securePage(response: ServerResponse, formAction?: string): void {
  response.setHeader('Content-Security-Policy', contentSecurityPolicy(formAction));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  // Invitations and password links have a secret in their address.
  response.setHeader('Referrer-Policy', 'no-referrer');
}
