import type { Principal } from '../contract/auth.ts';

export interface RateLimitOptions {
  /** Requests a minute that one principal may go on with for ever. */
  readonly perMinute: number;
  /** Requests at once after a rest. */
  readonly burst: number;
  /** Milliseconds that never go back; `performance.now` by default. */
  readonly now?: () => number;
  /** Principals remembered; the one seen longest ago is forgotten first, and starts anew. */
  readonly maxPrincipals?: number;
}

export interface RateLimiter {
  /** Counts one request; 0 if it may go on, else the seconds until the next one may. A refused request costs nothing. */
  take(principal: Pick<Principal, 'organizationId' | 'subject'>): number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** A token bucket for each principal, filled when it is looked at: no timers, bounded memory. */
export function createRateLimit(options: RateLimitOptions): RateLimiter {
  const { perMinute, burst, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  if (!(perMinute > 0) || !(burst >= 1)) throw new RangeError('perMinute and burst must be positive');
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  return {
    take({ organizationId, subject }) {
      const key = `${organizationId} ${subject}`;
      const at = now();
      const bucket = buckets.get(key) ?? { tokens: burst, filledAt: at };
      // Taken out and put back, so that the map's own order is by last use.
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > maxPrincipals) forgetOldest(buckets);
      bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, at - bucket.filledAt) * perMs);
      bucket.filledAt = at;
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perMs / 1_000;
      bucket.tokens -= 1;
      return 0;
    },
  };
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const key of buckets.keys()) {
    buckets.delete(key);
    return;
  }
}
