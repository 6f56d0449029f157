import type { Logger } from '../contract/core/index.ts';
import type { BucketRepository, Portion } from '../contract/storage/index.ts';
import type { PartialRateLimiter } from './rate-limit.ts';

export interface SharedRateLimitOptions {
  /** As of the limiter, by subject. */
  readonly perMinute: (subject: string) => number;
  /** Looked up for each call: storage opens after this is created. */
  readonly buckets: () => Pick<BucketRepository, 'pour' | 'list'>;
  /** False for a single gateway. */
  readonly shared: () => boolean;
  readonly now: () => Date;
  readonly logger: Logger;
}

const prefix = 'rate ';
const namesAtOnce = 500;
/** Of a bucket, in milliseconds: what thirty gateways admit at once. */
const size = 1_800_000;
/** The fullest are learned of from a list; of others a gateway learns when it settles for them itself. */
const listed = 1_000;

/**
 * A principal's limit over all gateways of a storage, without a storage call in the request path. Each gateway counts locally
 * and settles a moment later; an excess of several gateways is paid back before more is admitted. So N gateways admit N bursts
 * of a rested principal, then the rate, to within what they admit between two settlements. While the storage cannot be
 * reached, each gateway uses its local count, and unsettled counts are dropped: the verifier refuses all calls then.
 * @returns what tells of the requests let in here, and counts those let in elsewhere; for about once a second. Never rejects.
 */
export function shareAmongGateways(limiter: PartialRateLimiter, options: SharedRateLimitOptions): () => Promise<void> {
  const { perMinute, buckets, shared, now, logger } = options;
  const msPerRequest = (key: string): number => 60_000 / perMinute(key.slice(key.indexOf(' ') + 1));
  const admitted = limiter.tally();
  /** When the shared buckets would be empty (epoch ms), as far as their content was counted here. */
  const counted = new Map<string, number>();
  let failing = false;

  function learn(key: string, emptyAt: number, expected: number): void {
    const each = msPerRequest(key);
    const requests = Math.max(0, Math.floor((emptyAt - expected) / each));
    counted.set(key, expected + requests * each);
    if (requests > 0) limiter.debit(key, requests, admitted);
  }

  async function exchange(told: readonly (readonly [string, number])[]): Promise<void> {
    const at = now();
    const expected = (key: string): number => Math.max(counted.get(key) ?? 0, at.getTime());
    for (let first = 0; first < told.length; first += namesAtOnce) {
      const portions = new Map<string, Portion>(
        told
          .slice(first, first + namesAtOnce)
          .map(
            ([key, requests]) =>
              [`${prefix}${key}`, { amount: Math.ceil(requests * msPerRequest(key)), size }] as const,
          ),
      );
      for (const [name, emptyAt] of await buckets().pour(portions, at)) {
        const key = name.slice(prefix.length);
        learn(key, emptyAt.getTime(), expected(key) + (portions.get(name)?.amount ?? 0));
      }
    }
    for (const [name, emptyAt] of await buckets().list(prefix, size, at, listed)) {
      const key = name.slice(prefix.length);
      learn(key, emptyAt.getTime(), expected(key));
    }
    for (const [key, emptyAt] of counted) if (emptyAt <= at.getTime()) counted.delete(key);
  }

  return async () => {
    const told = [...admitted];
    admitted.clear();
    if (!shared()) return;
    try {
      await exchange(told);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ error }, 'rate limits are not shared with other gateways until storage answers');
      failing = true;
    }
  };
}
