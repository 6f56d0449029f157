import { LRUCache } from 'lru-cache';
import { hashSecret } from '../contract/core/index.ts';
import type { BucketRepository } from '../contract/storage/index.ts';

/** Wrong secrets that one address may show for one client id before it is throttled. */
const allowed = 10;
const windowMs = 60_000;
/** Of a bucket, in milliseconds: more than sixty gateways fill together. */
const size = 60 * windowMs;
/** Counters kept; the oldest go first. An attacker who fills them only loses count of their own failures. */
const capacity = 10_000;
const prefix = 'wrong-secret ';
const tellAfterMs = 1_000;
/** In one telling. What a flood has beyond them stays with this gateway, so that it does not become one of writes. */
const toldAtOnce = 200;

/**
 * Counts failed attempts by address and client id. It never refuses a good secret: secrets are 256 random bits, so the
 * danger is not a guess but a key locked out by a stranger who knows its id, or by one stale copy behind the same address.
 * Gateways over one storage tell each other a moment later.
 */
export interface Attempts {
  /** Notes a failure. Answers how many seconds to wait once there were too many, else undefined. */
  fail(address: string, clientId: string): number | undefined;
}

interface AttemptsOptions {
  readonly now: () => Date;
  /** A function, since storage may open after construction. */
  readonly buckets: () => Pick<BucketRepository, 'pour'>;
  /** Told what could not be told to the others. */
  readonly failed: (error: unknown) => void;
}

export function createAttempts({ now, buckets, failed }: AttemptsOptions): Attempts {
  const counters = new LRUCache<string, { count: number; readonly endsAt: number }>({ max: capacity });
  /** Milliseconds to pour, by name. */
  const untold = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function counterOf(name: string) {
    const time = now().getTime();
    const known = counters.get(name);
    // Of one that ends later the clock was set back since.
    if (known !== undefined && known.endsAt > time && known.endsAt <= time + windowMs) return known;
    const counter = { count: 0, endsAt: time + windowMs };
    counters.set(name, counter);
    return counter;
  }

  async function tell(): Promise<void> {
    timer = undefined;
    const told = new Map(untold);
    untold.clear();
    try {
      const portions = new Map([...told].map(([name, amount]) => [name, { amount, size }]));
      for (const [name, emptyAt] of await buckets().pour(portions, now())) {
        const left = emptyAt.getTime() - now().getTime();
        const counter = counterOf(name);
        // What all have counted, but for what has leaked away since.
        const level = Math.ceil((left * allowed) / windowMs);
        counter.count = Math.max(counter.count, level);
      }
    } catch (error) {
      failed(error);
    }
  }

  return {
    fail(address, clientId) {
      const name = `${prefix}${hashSecret(`${address} ${clientId}`)}`;
      const counter = counterOf(name);
      counter.count += 1;
      if (counter.count > allowed) return Math.ceil((counter.endsAt - now().getTime()) / 1_000);
      if (untold.has(name) || untold.size < toldAtOnce) {
        untold.set(name, (untold.get(name) ?? 0) + windowMs / allowed);
        timer ??= setTimeout(() => void tell(), tellAfterMs).unref();
      }
      return undefined;
    },
  };
}
