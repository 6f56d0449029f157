import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** By the token's hash, never the token itself. Concurrent requests share the work; failures are not kept. */
interface TokenCache<Value> {
  /** At once where it is known. */
  get(token: string, verify: () => Promise<Verified<Value>>): Value | Promise<Value>;
  readonly size: number;
}

interface Verified<Value> {
  readonly value: Value;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export function createTokenCache<Value>(options: {
  readonly now: () => number;
  readonly maxTokens?: number;
  /** However long a token lives, it is verified again after this: a signing key may have been withdrawn. */
  readonly maxAgeMs?: number;
}): TokenCache<Value> {
  const { now, maxTokens = 10_000, maxAgeMs = 60_000 } = options;
  const kept = new LRUCache<string, Verified<Value>>({ max: maxTokens });
  const underWay = new Map<string, Promise<Value>>();

  async function verifyAndKeep(key: string, verify: () => Promise<Verified<Value>>): Promise<Value> {
    try {
      const { value, expiresAt } = await verify();
      kept.set(key, { value, expiresAt: Math.min(expiresAt, now() + maxAgeMs) });
      return value;
    } finally {
      underWay.delete(key);
    }
  }

  return {
    get size() {
      return kept.size;
    },
    get(token, verify) {
      const key = hash('sha256', token, 'base64');
      const known = kept.get(key);
      if (known !== undefined && known.expiresAt > now()) return known.value;
      let promise = underWay.get(key);
      if (promise === undefined) {
        promise = verifyAndKeep(key, verify);
        underWay.set(key, promise);
      }
      return promise;
    },
  };
}
