import { LRUCache } from 'lru-cache';
import type { Principal } from '../contract/issuer/index.ts';
import { checkedRate, TokenBucket, type Rate } from './token-bucket.ts';

export interface RateLimitOptions extends Rate {
  /** Of subjects that have a rate of their own. Asked each time: a rate may become another. */
  readonly rateOf?: (subject: string) => Rate | undefined;
  /** Milliseconds that never go back; `performance.now` by default. */
  readonly now?: () => number;
  /** Principals remembered; the least recently seen is dropped first and starts with a full bucket. */
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

/** A limiter that counts part of its principals' requests itself and is informed of the rest. */
export interface PartialRateLimiter extends RateLimiter {
  /** Counts requests let in elsewhere. They may put the principal into debt, which it waits off. */
  debit(caller: Caller, requests: number): void;
}

/** A token bucket for each principal, in bounded memory. */
export function createRateLimit(options: RateLimitOptions): PartialRateLimiter {
  const { perMinute, burst, rateOf, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  const usual = checkedRate({ perMinute, burst });
  const buckets = new LRUCache<string, TokenBucket>({ max: maxPrincipals });
  /** Of the call that is answered: nothing else runs meanwhile, and an array each time would be garbage. */
  const asked: TokenBucket[] = [];
  function filled(caller: Caller, at: number): TokenBucket {
    const key = caller.key ?? keyOf(caller);
    const rate = rateOf?.(caller.subject) ?? usual;
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, at);
      buckets.set(key, bucket);
    } else {
      bucket.fill(at, rate);
    }
    return bucket;
  }
  return {
    take(caller) {
      const bucket = filled(caller, now());
      const { wait } = bucket;
      if (wait === 0) bucket.take();
      return wait;
    },
    takeAll(callers) {
      const at = now();
      let wait = 0;
      let count = 0;
      for (const caller of callers) {
        const bucket = filled(caller, at);
        wait = Math.max(wait, bucket.wait);
        asked[count] = bucket;
        count += 1;
      }
      if (wait > 0) return wait;
      for (let index = 0; index < count; index += 1) asked[index]?.take();
      return 0;
    },
    debit(caller, requests) {
      filled(caller, now()).take(requests);
    },
  };
}
