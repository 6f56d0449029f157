import { LRUCache } from 'lru-cache';
import { TokenBucket } from './token-bucket.ts';
import type { Rate } from './token-bucket.ts';

export interface ThrottleOptions extends Rate {
  readonly now: () => Date;
}

/** Counts one event for a name. Answers 0 if it may go on, else the seconds until the next one may. */
export type Throttle = (name: string) => number;

/** Names remembered; the one seen longest ago is forgotten first. */
const capacity = 10_000;

/** A bucket for each name. */
export function createThrottle({ now, ...rate }: ThrottleOptions): Throttle {
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
