import { LRUCache } from 'lru-cache';

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
export function checkedRate(rate: Rate): Rate {
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
