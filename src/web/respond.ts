import type { ServerResponse } from 'node:http';
import type { Html } from './html.ts';
import type { View } from './page.ts';

interface Document extends Pick<View, 'retryAfterSeconds' | 'goOn'> {
  readonly status: number;
  readonly document: Html;
}

export function sendDocument(response: ServerResponse, answer: Document): void {
  const body = Buffer.from(answer.document.toString());
  securePage(response);
  if (answer.retryAfterSeconds !== undefined) response.setHeader('Retry-After', Math.ceil(answer.retryAfterSeconds));
  if (answer.goOn !== undefined) response.setHeader('Refresh', `0; url=${answer.goOn}`);
  response.writeHead(answer.status, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

/** 303: the browser goes on with GET, and reloading sends no form again. */
export function sendRedirect(response: ServerResponse, location: string): void {
  securePage(response);
  response.writeHead(303, { location, 'content-length': 0 });
  response.end();
}

/** Replaces headers set before. */
function securePage(response: ServerResponse): void {
  const policy = [
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'",
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ];
  response.setHeader('Content-Security-Policy', policy.join('; '));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  // Invitations and password links have a secret in their address.
  response.setHeader('Referrer-Policy', 'no-referrer');
}
