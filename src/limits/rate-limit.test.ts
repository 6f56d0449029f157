import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../contract/core/index.ts';
import { createRateLimit, keyOf } from './rate-limit.ts';

const organizationId = newId('org');
const one = { organizationId, subject: 'a' };
const other = { organizationId, subject: 'b' };

describe('createRateLimit', () => {
  it('lets a burst through, then one for each interval, and says how long to wait', () => {
    let now = 0;
    const limit = createRateLimit({ perMinute: 60, burst: 2, now: () => now });
    expect([limit.take(one), limit.take(one), limit.take(one)]).toEqual([0, 0, 1]);
    now += 400;
    expect(limit.take(one)).toBeCloseTo(0.6);
    now += 600;
    expect(limit.take(one)).toBe(0);
    expect(limit.take(one)).toBe(1);
  });

  it('takes a rate that became another, also for who is known', () => {
    let now = 0;
    let rate = { perMinute: 60, burst: 1 };
    const limit = createRateLimit({ ...rate, rateOf: () => rate, now: () => now });
    expect([limit.take(one), limit.take(one)]).toEqual([0, 1]);
    rate = { perMinute: 6, burst: 2 };
    expect(limit.take(one)).toBe(10);
    now += 60_000;
    expect([limit.take(one), limit.take(one), limit.take(one)]).toEqual([0, 0, 10]);
  });

  it('keeps principals apart, also the same person in two organizations', () => {
    const limit = createRateLimit({ perMinute: 1, burst: 1, now: () => 0 });
    expect(limit.take(one)).toBe(0);
    expect(limit.take({ ...one, subject: 'b' })).toBe(0);
    expect(limit.take({ ...one, organizationId: newId('org') })).toBe(0);
    expect(limit.take(one)).toBeGreaterThan(0);
  });

  it('counts for all callers or for none, each as it is by itself', () => {
    const limit = createRateLimit({ perMinute: 60, burst: 2, now: () => 0 });
    expect(limit.take(other)).toBe(0);
    expect(limit.takeAll([one, other])).toBe(0);
    expect(limit.takeAll([one, other])).toBe(1);
    expect(limit.takeAll([])).toBe(0);
    expect(limit.take({ ...one, key: keyOf(one) })).toBe(0);
    expect(limit.take(one)).toBe(1);
  });

  it('forgets who was seen longest ago, not who is busy', () => {
    const limit = createRateLimit({ perMinute: 1, burst: 1, now: () => 0, maxPrincipals: 2 });
    limit.take(one);
    limit.take({ ...one, subject: 'b' });
    limit.take(one);
    limit.take({ ...one, subject: 'c' });
    expect(limit.take(one)).toBeGreaterThan(0);
    expect(limit.take({ ...one, subject: 'b' })).toBe(0);
  });

  it('refuses settings that would let nothing or everything through', () => {
    expect(() => createRateLimit({ perMinute: 0, burst: 1 })).toThrow(RangeError);
    expect(() => createRateLimit({ perMinute: Number.NaN, burst: 1 })).toThrow(RangeError);
    expect(() => createRateLimit({ perMinute: 1, burst: 0 })).toThrow(RangeError);
  });

  it('counts what was let in elsewhere, into debt if need be', () => {
    let now = 0;
    const limit = createRateLimit({ perMinute: 60, burst: 3, now: () => now });
    expect(limit.take(one)).toBe(0);
    limit.debit(keyOf(one), 4, limit.tally());
    expect(limit.take(one)).toBe(3);
    now += 3_000;
    expect([limit.take(one), limit.take(one)]).toEqual([0, 1]);
  });

  it('tells each who tells others what it lets in, and what all but they told of', () => {
    const limit = createRateLimit({ perMinute: 60, burst: 10 });
    const begun: string[] = [];
    const workers = limit.tally(() => begun.push('workers'));
    const gateways = limit.tally();
    limit.take(one);
    limit.takeAll([one, other]);
    limit.debit(keyOf(one), 3, gateways);
    limit.debit(keyOf(other), 2, workers);
    expect([workers.get(keyOf(one)), workers.get(keyOf(other))]).toEqual([5, 1]);
    expect([gateways.get(keyOf(one)), gateways.get(keyOf(other))]).toEqual([2, 3]);
    workers.clear();
    limit.take(one);
    expect([begun, workers.size]).toEqual([['workers', 'workers'], 1]);
  });

  it('never admits more than burst and rate allow, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100, max: 2_000 }), { maxLength: 200 }), (steps) => {
        let now = 0;
        let latest = 0;
        let admitted = 0;
        const limit = createRateLimit({ perMinute: 60, burst: 5, now: () => now });
        let forward = 0;
        for (const step of steps) {
          const before = now;
          now += step;
          forward += Math.max(0, now - before);
          latest = Math.max(latest, now);
          if (limit.take(one) === 0) admitted += 1;
        }
        expect(admitted).toBeLessThanOrEqual(5 + Math.ceil(forward / 1_000));
      }),
    );
  });
});
