import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey } from 'jose';

/** Tokens of enterprise providers reach 8 kB; Node's own limit on all headers is 16 kB. */
const maxTokenLength = 12 * 1024;
/**
 * What a request sends as its bearer token, from the Authorization header alone: never from the query, which ends up in logs,
 * nor from the body (OAuth 2.1 §5.1). Undefined where there is none. Whether it is written like one is not looked at.
 */
export function readBearer(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header.length > maxTokenLength) return undefined;
  // As nearly all write it.
  if (header.startsWith('Bearer ') && header[7] !== ' ') return header.slice(7);
  const scheme = /^bearer +/i.exec(header)?.[0];
  return scheme === undefined ? undefined : header.slice(scheme.length);
}

/** RFC 6750 §2.1: b64token. */
export function isBearerToken(text: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text);
}

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
      const left = known === undefined ? 0 : known.expiresAt - now();
      // Of one that is kept for longer the clock was set back since.
      if (known !== undefined && left > 0 && left <= maxAgeMs) return known.value;
      let promise = underWay.get(key);
      if (promise === undefined) {
        promise = verifyAndKeep(key, verify);
        underWay.set(key, promise);
      }
      return promise;
    },
  };
}

/** The issuer's keys cannot be had: says nothing about the token. */
export class KeysOutOfReach extends Error {}

/** Tells "there is no such key" from "the keys could not be asked for". */
export function guardKeySet(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      const aboutTheToken =
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported;
      throw aboutTheToken ? error : new KeysOutOfReach('the keys cannot be had', { cause: error });
    }
  };
}

/** Read before anything is checked, only to know whose keys to check with. Undefined where the token is no JWT. */
export function readUnchecked(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
