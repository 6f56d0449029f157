import type { ServerResponse } from 'node:http';
import type { AlertNotice } from '../../contract/alerts/index.ts';
import { SightlineError } from '../../contract/core/index.ts';
import { alertLine } from '../../contract/storage/alerts.ts';
import { answerEarly } from '../../limits/admission.ts';

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

/** Some senders, Amazon SNS among them, bring a password only once they are asked for it. */
export function wrongSecret(): Refusal {
  const message = 'The secret or signature of this alert source is wrong or missing.';
  return new Refusal(401, 'invalid_token', message, { 'www-authenticate': 'Basic realm="alerts", charset="UTF-8"' });
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

export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** As PagerDuty's Events API answers, which its clients check. */
export function eventsAnswer([notice]: readonly AlertNotice[]): Answer {
  const key = notice && { dedup_key: notice.fingerprint };
  return { status: 202, body: { status: 'success', message: 'Event processed', ...key } };
}

/** The first few; further ones are counted. */
export class Warnings {
  readonly #most: number;
  readonly #first: string[] = [];
  #more = 0;

  constructor(most: number) {
    this.#most = most;
  }

  readonly add = (warning: string): void => {
    if (this.#first.length < this.#most) this.#first.push(alertLine(warning, 300));
    else this.#more += 1;
  };

  told(): readonly string[] {
    return this.#more === 0 ? this.#first : [...this.#first, `And ${this.#more} more.`];
  }
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

/** Asks for an address and throws the answer away. */
export async function visit(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
