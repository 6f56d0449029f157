import { describe, expect, it } from '@jest/globals';
import { createTokenCache } from './bearer.ts';

describe('createTokenCache', () => {
  it('forgets the token used longest ago', async () => {
    const cache = createTokenCache<string>({ now: () => 0, maxTokens: 2 });
    const verified: string[] = [];
    const get = (token: string) =>
      cache.get(token, async () => {
        verified.push(token);
        return { value: token, expiresAt: 1_000 };
      });
    await get('a');
    await get('b');
    await get('a');
    await get('c');
    await get('a');
    await get('b');
    expect(verified).toEqual(['a', 'b', 'c', 'b']);
    expect(cache.size).toBe(2);
  });

  it('keeps no failure, and shares one among those who wait', async () => {
    const cache = createTokenCache<string>({ now: () => 0 });
    let tries = 0;
    const fail = async () => {
      tries += 1;
      throw new Error('no');
    };
    const outcomes = await Promise.allSettled([cache.get('t', fail), cache.get('t', fail)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(tries).toBe(1);
    expect(await cache.get('t', async () => ({ value: 'yes', expiresAt: 1 }))).toBe('yes');
  });

  it('verifies again what it verified before the clock was set back', async () => {
    let time = 86_400_000;
    const cache = createTokenCache<number>({ now: () => time, maxAgeMs: 60_000 });
    let tries = 0;
    const verify = async () => ({ value: (tries += 1), expiresAt: Infinity });
    await cache.get('t', verify);
    expect(await cache.get('t', verify)).toBe(1);
    time -= 3_600_000;
    expect(await cache.get('t', verify)).toBe(2);
    expect(await cache.get('t', verify)).toBe(2);
  });

  it('does not keep what is already over', async () => {
    const cache = createTokenCache<number>({ now: () => 10 });
    let tries = 0;
    const verify = async () => ({ value: (tries += 1), expiresAt: 10 });
    await cache.get('t', verify);
    expect(await cache.get('t', verify)).toBe(2);
  });
});
