import { createHmac, randomBytes } from 'node:crypto';

/*
 * Standard Webhooks 1.0 (standardwebhooks.com), so that receivers verify with a library that is there already: the secret
 * is `whsec_` and base64; what is signed is id, time in seconds and body, joined by dots.
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
