import { LRUCache } from 'lru-cache';
import { isId, toId } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';

export interface Rate {
  /** Requests a minute that may go on for ever. */
  readonly perMinute: number;
  /** Requests at once after a rest. */
  readonly burst: number;
}

/** Filled when it is looked at: no timer. Times are milliseconds; one that goes back adds nothing. */
export class TokenBucket {
  #rate: Rate;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, at: number) {
    this.#rate = checkedRate(rate);
    this.#tokens = rate.burst;
    this.#filledAt = at;
  }

  /** What has come since; a new rate holds for it already. */
  fill(at: number, rate: Rate = this.#rate): void {
    if (rate !== this.#rate) this.#rate = checkedRate(rate);
    const { perMinute, burst } = rate;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, at - this.#filledAt) * perMinute) / 60_000);
    this.#filledAt = at;
  }

  /** Seconds until there is a token; 0 where there is one now. */
  get wait(): number {
    return this.#tokens < 1 ? ((1 - this.#tokens) * 60) / this.#rate.perMinute : 0;
  }

  /** More than there are leave a debt, which is waited off. */
  take(tokens = 1): void {
    this.#tokens -= tokens;
  }
}

/** Throws where no bucket could have the rate. */
function checkedRate(rate: Rate): Rate {
  if (!(rate.perMinute > 0) || !(rate.burst >= 1)) throw new RangeError('perMinute and burst must be positive');
  return rate;
}

/** Names remembered; the one seen longest ago is forgotten first. */
const capacity = 10_000;
/** A bucket for each name. It counts one event for a name: 0 if it may go on, else the seconds until the next one may. */
export function createThrottle({ now, ...rate }: Rate & { readonly now: () => Date }): (name: string) => number {
  const buckets = new LRUCache<string, TokenBucket>({ max: capacity });
  return (name) => {
    const at = now().getTime();
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, at);
      buckets.set(name, bucket);
    }
    bucket.fill(at);
    const wait = Math.ceil(bucket.wait);
    if (wait === 0) bucket.take();
    return wait;
  };
}

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

/** The caller of a key that another process counted; undefined where it is none. */
function callerOf(key: string): Caller | undefined {
  const [organizationId = '', subject = ''] = key.split(' ');
  return isId('org', organizationId) ? { organizationId: toId('org', organizationId), subject, key } : undefined;
}

/** Requests let in, by caller's key, since its owner last cleared it. */
type Tally = Map<string, number>;

export interface RateLimiter {
  /** Counts one request; 0 if it may go on, else the seconds until the next one may. A refused request costs nothing. */
  take(caller: Caller): number;
  /** One request that counts for each of these, or for none: 0 if all of them may, else the longest wait. */
  takeAll(callers: readonly Caller[]): number;
}

/** A limiter that counts part of its principals' requests itself and is informed of the rest. */
export interface PartialRateLimiter extends RateLimiter {
  /** Counts what is let in from now on, for somebody who tells others. `begun` is called with the first after each clearing. */
  tally(begun?: () => void): Tally;
  /**
   * Counts requests let in elsewhere, which may put the principal into debt that it waits off.
   * @param from the tally of who told of them: all others count them too.
   */
  debit(key: string, requests: number, from: Tally): void;
}

/** A token bucket for each principal, in bounded memory. */
export function createRateLimit(options: RateLimitOptions): PartialRateLimiter {
  const { perMinute, burst, rateOf, now = () => performance.now(), maxPrincipals = 50_000 } = options;
  const usual = checkedRate({ perMinute, burst });
  // By size, since `max` takes the memory for all of them at once: 6 ms and 1 MB of a start for each limit.
  const buckets = new LRUCache<string, TokenBucket>({ maxSize: maxPrincipals, sizeCalculation: () => 1 });
  /** Of the call that is answered: nothing else runs meanwhile, and an array each time would be garbage. */
  const asked: TokenBucket[] = [];
  const tallies: { readonly counts: Tally; readonly begun: (() => void) | undefined }[] = [];

  function count(caller: Caller, requests: number, from?: Tally): void {
    if (tallies.length === 0) return;
    const key = caller.key ?? keyOf(caller);
    for (const { counts, begun } of tallies) {
      if (counts === from) continue;
      if (counts.size === 0) begun?.();
      counts.set(key, (counts.get(key) ?? 0) + requests);
    }
  }

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
      if (wait > 0) return wait;
      bucket.take();
      count(caller, 1);
      return 0;
    },
    takeAll(callers) {
      const at = now();
      let wait = 0;
      let index = 0;
      for (const caller of callers) {
        const bucket = filled(caller, at);
        wait = Math.max(wait, bucket.wait);
        asked[index] = bucket;
        index += 1;
      }
      if (wait > 0) return wait;
      while (index > 0) asked[(index -= 1)]?.take();
      for (const caller of callers) count(caller, 1);
      return 0;
    },
    tally(begun) {
      const counts: Tally = new Map();
      tallies.push({ counts, begun });
      return counts;
    },
    debit(key, requests, from) {
      const caller = callerOf(key);
      if (caller === undefined) return;
      filled(caller, now()).take(requests);
      count(caller, requests, from);
    },
  };
}
