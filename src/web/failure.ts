import type { ServerResponse } from 'node:http';
import { SightlineError, type Logger } from '../contract/core/index.ts';
import { alert } from './components.ts';
import { html, type Html } from './html.ts';
import type { View } from './page.ts';

interface Document extends Pick<View, 'retryAfterSeconds'> {
  readonly status: number;
  readonly document: Html;
  readonly formAction?: string | undefined;
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

/**
 * Sets a page's security headers, replacing any that were set before.
 * @param formAction a CSP source besides our own. Chromium holds the redirects after a POST against it, too.
 */
function securePage(response: ServerResponse, formAction?: string): void {
  const policy = [
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'",
    `form-action 'self'${formAction === undefined ? '' : ` ${formAction}`}`,
    "frame-ancestors 'none'; base-uri 'none'",
  ];
  response.setHeader('Content-Security-Policy', policy.join('; '));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  // Invitations and password links have a secret in their address.
  response.setHeader('Referrer-Policy', 'no-referrer');
}

const titles: Readonly<Record<number, string>> = {
  403: 'This is not open to you',
  404: 'There is nothing here',
  413: 'That is too much',
  429: 'Too many attempts',
  503: 'Not available just now',
};

/** An error as a page: the sentence written for people, or a request id with which an operator finds it in the log. */
export function failureView(error: unknown, requestId: string, logger: Logger): View {
  if (error instanceof SightlineError && error.status < 500) {
    return {
      title: titles[error.status] ?? 'That did not work',
      body: html`<p>${error.message}</p>
        ${error.hint !== undefined && html`<p>${error.hint}</p>`}`,
      card: true,
      status: error.status,
      retryAfterSeconds: error.retryAfterSeconds,
    };
  }
  logger.error({ error, request_id: requestId }, 'A page failed.');
  const known = error instanceof SightlineError && error.status === 503;
  return {
    title: known ? (titles[503] ?? '') : 'Something went wrong on our side',
    body: html`<p>${known ? error.message : 'Try again in a moment.'}</p>
      <p class="soft">If it goes on, tell an operator this id: <code>${requestId}</code></p>`,
    card: true,
    status: known ? 503 : 500,
  };
}

/** The sentence of a failure that a person can mend, for showing it in the form; anything else is thrown on. */
export function refusal(error: unknown) {
  if (!(error instanceof SightlineError) || error.status >= 500) throw error;
  const { message, hint, status, retryAfterSeconds } = error;
  return { message: alert(hint === undefined ? message : `${message} ${hint}`), status, retryAfterSeconds };
}
