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

/** A limiter that knows part of what its principals send, and is told of the rest. */
export interface PartialRateLimiter extends RateLimiter {
  /** Counts requests let in elsewhere. They may put the principal into debt, which it waits off. */
  debit(principal: Pick<Principal, 'organizationId' | 'subject'>, requests: number): void;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** A token bucket for each principal, filled when it is looked at: no timers, bounded memory. */
export function createRateLimit(options: RateLimitOptions): PartialRateLimiter {
  const { perMinute, burst, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  if (!(perMinute > 0) || !(burst >= 1)) throw new RangeError('perMinute and burst must be positive');
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  function filled({ organizationId, subject }: Pick<Principal, 'organizationId' | 'subject'>): Bucket {
    const key = `${organizationId} ${subject}`;
    const at = now();
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: at };
    // Taken out and put back, so that the map's own order is by last use.
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxPrincipals) forgetOldest(buckets);
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, at - bucket.filledAt) * perMs);
    bucket.filledAt = at;
    return bucket;
  }
  return {
    take(principal) {
      const bucket = filled(principal);
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perMs / 1_000;
      bucket.tokens -= 1;
      return 0;
    },
    debit(principal, requests) {
      filled(principal).tokens -= requests;
    },
  };
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const key of buckets.keys()) {
    buckets.delete(key);
    return;
  }
}
