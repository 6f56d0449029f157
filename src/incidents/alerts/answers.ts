import type { ServerResponse } from 'node:http';
import { SightlineError } from '../../contract/core/index.ts';
import { answerEarly } from '../../limits/early-answer.ts';

/** A request that is refused with a status of HTTP that no error of ours stands for. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The same for every address that is no source's. */
export function notFound(): Refusal {
  return new Refusal(404, 'not_found', 'There is no alert source at this address.');
}

export function tooMany(seconds: number): Refusal {
  return new Refusal(429, 'rate_limited', 'Too many requests. Send it again later.', {
    'retry-after': String(Math.max(1, Math.ceil(seconds))),
  });
}

export function answer(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  const all = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
  answerEarly(response.req, response, status, all, text);
}

/** Only words of ours: anything else is `unavailable`, so that the sender tries again. */
export function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof Refusal) {
    return answer(response, error.status, { error: { code: error.code, message: error.message } }, error.headers);
  }
  if (error instanceof SightlineError && error.code === 'invalid_argument') {
    const { code, message, hint } = error;
    return answer(response, 400, { error: { code, message, ...(hint !== undefined && { hint }) } });
  }
  const message = 'The alerts could not be stored. Send them again.';
  answer(response, 503, { error: { code: 'unavailable', message } }, { 'retry-after': '5' });
}
