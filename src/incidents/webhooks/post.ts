import { createHmac, randomBytes } from 'node:crypto';

/*
 * Standard Webhooks 1.0 (standardwebhooks.com), so that receivers can verify with an existing library. The secret is
 * `whsec_` and base64; the signature covers id, time in seconds and body, joined by dots.
 */

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The headers of one attempt. */
export function signedHeaders(secret: string, id: string, at: Date, body: string): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

const timeoutMs = 15_000;
const plainHeaders = { 'content-type': 'application/json', 'user-agent': 'Sightline' };

/** One attempt: undefined on success, else the reason, without any text of the receiver. */
export async function post(attempt: {
  readonly url: string;
  readonly secret: string;
  /** The receiver's means to tell a repetition. */
  readonly id: string;
  readonly body: string;
  readonly now: Date;
  readonly signal: AbortSignal;
}): Promise<string | undefined> {
  const { url, secret, id, body, now, signal } = attempt;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...plainHeaders, ...signedHeaders(secret, id, now, body) },
      body,
      // To follow would send what is signed for one address to another.
      redirect: 'manual',
      signal: AbortSignal.any([deadline, signal]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    return response.status >= 300 && response.status < 400
      ? `it answered ${response.status}, a redirect, which is not followed`
      : `it answered ${response.status}`;
  } catch (error) {
    if (signal.aborted) throw error;
    return deadline.aborted
      ? `it did not answer within ${timeoutMs / 1_000} seconds`
      : `it cannot be reached (${reason(error)})`;
  }
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{3,60}$/.test(code) ? code : 'no connection';
}
