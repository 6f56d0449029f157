import { LRUCache } from 'lru-cache';
import type { Principal } from '../contract/issuer/index.ts';

export interface Rate {
  /** Requests a minute that one principal may go on with for ever. */
  readonly perMinute: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

export interface RateLimitOptions extends Rate {
  /** Of subjects that have a rate of their own. Asked each time: a rate may become another. */
  readonly rateOf?: (subject: string) => Rate | undefined;
  /** Milliseconds that never go back; `performance.now` by default. */
  readonly now?: () => number;
  /** Principals remembered; the one seen longest ago is forgotten first, and starts anew. */
  readonly maxPrincipals?: number;
}

/** Whose requests are counted together. */
export interface Caller extends Pick<Principal, 'organizationId' | 'subject'> {
  /** As `keyOf` makes it, where somebody keeps it for the next time. */
  readonly key?: string;
}

/** Under what a caller is counted. */
export function keyOf({ organizationId, subject }: Caller): string {
  return `${organizationId} ${subject}`;
}

export interface RateLimiter {
  /** Counts one request; 0 if it may go on, else the seconds until the next one may. A refused request costs nothing. */
  take(caller: Caller): number;
  /** One request that counts for each of these, or for none: 0 if all of them may, else the longest wait. */
  takeAll(callers: readonly Caller[]): number;
}

/** A limiter that knows part of what its principals send, and is told of the rest. */
export interface PartialRateLimiter extends RateLimiter {
  /** Counts requests let in elsewhere. They may put the principal into debt, which it waits off. */
  debit(caller: Caller, requests: number): void;
}

interface Bucket {
  tokens: number;
  filledAt: number;
  rate: Rate;
}

/** A token bucket for each principal, filled when it is looked at: no timers, bounded memory. */
export function createRateLimit(options: RateLimitOptions): PartialRateLimiter {
  const { rateOf, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  const usual = checked(options);
  const buckets = new LRUCache<string, Bucket>({ max: maxPrincipals });
  /** Of the call that is answered: nothing else runs meanwhile, and an array each time would be garbage. */
  const asked: Bucket[] = [];
  function filled(caller: Caller, at: number): Bucket {
    const key = caller.key ?? keyOf(caller);
    const rate = rateOf?.(caller.subject) ?? usual;
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: rate.burst, filledAt: at, rate: checked(rate) };
      buckets.set(key, bucket);
    }
    if (rate !== bucket.rate) bucket.rate = checked(rate);
    const { perMinute, burst } = bucket.rate;
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, at - bucket.filledAt) * perMinute) / 60_000);
    bucket.filledAt = at;
    return bucket;
  }
  return {
    take(caller) {
      const bucket = filled(caller, now());
      if (bucket.tokens < 1) return waitOf(bucket);
      bucket.tokens -= 1;
      return 0;
    },
    takeAll(callers) {
      const at = now();
      let wait = 0;
      let count = 0;
      for (const caller of callers) {
        const bucket = filled(caller, at);
        wait = Math.max(wait, waitOf(bucket));
        asked[count] = bucket;
        count += 1;
      }
      if (wait > 0) return wait;
      for (let index = 0; index < count; index += 1) {
        const bucket = asked[index];
        if (bucket !== undefined) bucket.tokens -= 1;
      }
      return 0;
    },
    debit(caller, requests) {
      filled(caller, now()).tokens -= requests;
    },
  };
}

function waitOf({ tokens, rate }: Bucket): number {
  return tokens < 1 ? ((1 - tokens) / rate.perMinute) * 60 : 0;
}

function checked(rate: Rate): Rate {
  if (!(rate.perMinute > 0) || !(rate.burst >= 1)) throw new RangeError('perMinute and burst must be positive');
  return rate;
}
