import { createHash, createHmac } from 'node:crypto';
import type { Tenant } from '../../src/contract/telemetry/index.ts';

export const tokenSetting = 'otel.token';
/** The window of a statement, for views whose tables are sorted or partitioned by something else than the time itself. */
export const windowSettings = { start: 'otel.window_start', end: 'otel.window_end' } as const;

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

const mostKept = 10_000;

/** A token serves a tenant's statements for a fifth of its life, so that what is sent lives for at least the rest. */
export class TenantTokens {
  readonly #secret: string;
  readonly #lifeMs: number;
  readonly #now: () => Date;
  readonly #kept = new Map<Tenant, { readonly token: string; readonly until: number }>();

  constructor(secret: string, lifeMs: number, now: () => Date) {
    this.#secret = secret;
    this.#lifeMs = lifeMs;
    this.#now = now;
  }

  for(tenant: Tenant): string {
    const at = this.#now().getTime();
    const kept = this.#kept.get(tenant);
    if (kept !== undefined && at < kept.until && kept.until - at <= this.#lifeMs / 5) return kept.token;
    const token = signToken(tenant, this.#secret, new Date(at + this.#lifeMs));
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(tenant, { token, until: at + this.#lifeMs / 5 });
    return token;
  }
}
