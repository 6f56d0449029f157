import { createHash, createHmac } from 'node:crypto';
import type { Tenant } from '../../src/contract/index.ts';

/** The setting that carries it. */
export const tokenSetting = 'otel.token';

/**
 * `expiry|hmac|tenant`, which the views' function verifies. SQL can replace a setting, but not sign another tenant: the key
 * is SHA-256 of the secret, which only the function's owner reads.
 */
export function signToken(tenant: Tenant, secret: string, expires: Date): string {
  const expiry = Math.floor(expires.getTime() / 1_000);
  const key = createHash('sha256').update(secret, 'utf8').digest();
  const signature = createHmac('sha256', key).update(`${expiry}|${tenant}`, 'utf8').digest('hex');
  return `${expiry}|${signature}|${tenant}`;
}
