import { isId, toId, type Logger } from '../contract/core/index.ts';
import type { BucketRepository } from '../contract/storage/index.ts';
import type { Caller, PartialRateLimiter } from './rate-limit.ts';

export interface SharedRateLimit extends PartialRateLimiter {
  /** Tells what was let in here, and counts what was let in elsewhere. About once a second. Never rejects. */
  settle(): Promise<void>;
}

export interface SharedRateLimitOptions {
  /** As of the limiter, by subject. */
  readonly perMinute: (subject: string) => number;
  /** Looked up for each call: storage opens after this is created. */
  readonly buckets: () => Pick<BucketRepository, 'pour' | 'list'>;
  /** False for a single gateway. */
  readonly shared: () => boolean;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Told of what was let in elsewhere. */
  readonly learned?: (caller: Caller, requests: number) => void;
}

const prefix = 'rate ';
const namesAtOnce = 500;
/** The fullest are learned of from a list; of others a gateway learns when it settles for them itself. */
const listed = 1_000;

/**
 * A principal's limit over all gateways of a storage, without a storage call in the request path. Each gateway counts locally
 * and settles a moment later; an excess of several gateways is paid back before more is admitted. So N gateways admit N bursts
 * of a rested principal, then the rate, to within what they admit between two settlements. While the storage cannot be
 * reached, each gateway uses its local count, and unsettled counts are dropped: the verifier refuses all calls then.
 */
export function shareAmongGateways(limiter: PartialRateLimiter, options: SharedRateLimitOptions): SharedRateLimit {
  const { perMinute, buckets, shared, now, logger, learned } = options;
  const msPerRequest = (name: string): number => 60_000 / perMinute(name.slice(name.lastIndexOf(' ') + 1));
  let spent = new Map<string, number>();
  /** When the shared buckets would be empty (epoch ms), as far as their content was counted here. */
  const counted = new Map<string, number>();
  let failing = false;

  function spend({ organizationId, subject }: Caller, requests: number): void {
    if (!shared()) return;
    const name = `${prefix}${organizationId} ${subject}`;
    spent.set(name, (spent.get(name) ?? 0) + requests);
  }

  function learn(name: string, emptyAt: number, expected: number): void {
    const each = msPerRequest(name);
    const requests = Math.max(0, Math.floor((emptyAt - expected) / each));
    counted.set(name, expected + requests * each);
    const caller = callerOf(name);
    if (requests === 0 || caller === undefined) return;
    limiter.debit(caller, requests);
    learned?.(caller, requests);
  }

  async function exchange(told: ReadonlyMap<string, number>): Promise<void> {
    const at = now();
    const expected = (name: string): number => Math.max(counted.get(name) ?? 0, at.getTime());
    const names = [...told.keys()];
    for (let first = 0; first < names.length; first += namesAtOnce) {
      const amounts = new Map(
        names
          .slice(first, first + namesAtOnce)
          .map((name) => [name, Math.ceil((told.get(name) ?? 0) * msPerRequest(name))] as const),
      );
      for (const [name, emptyAt] of await buckets().pour(amounts, at)) {
        learn(name, emptyAt.getTime(), expected(name) + (amounts.get(name) ?? 0));
      }
    }
    for (const [name, emptyAt] of await buckets().list(prefix, at, listed)) {
      learn(name, emptyAt.getTime(), expected(name));
    }
    for (const [name, emptyAt] of counted) if (emptyAt <= at.getTime()) counted.delete(name);
  }

  return {
    take(caller) {
      const wait = limiter.take(caller);
      if (wait === 0) spend(caller, 1);
      return wait;
    },
    takeAll(callers) {
      const wait = limiter.takeAll(callers);
      if (wait === 0) for (const caller of callers) spend(caller, 1);
      return wait;
    },
    debit(caller, requests) {
      limiter.debit(caller, requests);
      spend(caller, requests);
    },
    async settle() {
      const told = spent;
      spent = new Map();
      try {
        await exchange(told);
        failing = false;
      } catch (error) {
        if (!failing) logger.warn({ error }, 'rate limits are not shared with other gateways until storage answers');
        failing = true;
      }
    },
  };
}

function callerOf(name: string): Caller | undefined {
  const [, organizationId = '', subject = ''] = name.split(' ');
  return isId('org', organizationId) ? { organizationId: toId('org', organizationId), subject } : undefined;
}
