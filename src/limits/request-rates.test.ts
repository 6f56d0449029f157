import { describe, expect, it } from '@jest/globals';
import { newId } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import { createRateLimit } from './rate-limit.ts';
import { createRates, limitRequests } from './request-rates.ts';

const rates = { perMinute: 60, organizationPerMinute: 180, toolPerMinute: { start_chat: 120 } };
const organizationId = newId('org');

function principal(subject = newId('ak'), organization = organizationId): Principal {
  return { organizationId: organization, subject, kind: 'key', clientId: subject, role: 'member', scopes: new Set() };
}

function limit(now = () => 0) {
  const current = createRates(rates);
  return limitRequests(createRateLimit({ ...current.of(''), rateOf: current.of, now }), current);
}

/** How many are let in before the first is told to wait. */
function most(take: () => number): number {
  let count = 0;
  while (take() === 0) count += 1;
  return count;
}

describe('requests a minute', () => {
  it('are those of the principal, and then those of its organization', () => {
    const { take } = limit();
    const [first, second] = [principal(), principal()];
    expect(most(() => take(first))).toBe(20);
    expect(most(() => take(second))).toBe(10);
    expect(take(principal())).toBeGreaterThan(0);
    expect(take(principal(newId('ak'), newId('org')))).toBe(0);
  });

  it('of a tool count for the whole organization, and other tools do not count for it', () => {
    let now = 0;
    const { take } = limit(() => now);
    expect(most(() => take(principal(), 'start_chat'))).toBe(20);
    expect(take(principal(), 'start_chat')).toBeCloseTo(0.5);
    expect(take(principal(), 'read_chat')).toBe(0);
    now += 500;
    expect(take(principal(), 'start_chat')).toBe(0);
  });

  it('are those of one principal, whichever object it comes as, with a tool or without', () => {
    const { take } = limit();
    const id = newId('ak');
    const [one, again] = [principal(id), principal(id)];
    for (let turn = 0; turn < 5; turn += 1) {
      expect([take(one), take(again), take(one, 'start_chat'), take(again, 'read_chat')]).toEqual([0, 0, 0, 0]);
    }
    expect(take(one)).toBeGreaterThan(0);
    expect(take(again, 'start_chat')).toBeGreaterThan(0);
  });

  it('of a tool begin and end to count when the configuration says so, also for who is known', () => {
    const withTools = (toolPerMinute: Record<string, number>) => ({
      perMinute: 6_000,
      organizationPerMinute: 6_000,
      toolPerMinute,
    });
    const current = createRates(withTools({}));
    const limiter = createRateLimit({ perMinute: 1, burst: 1, now: () => 0, rateOf: current.of });
    const { take } = limitRequests(limiter, current);
    const [who, many] = [principal(), 100];
    for (let turn = 0; turn < many; turn += 1) expect(take(who, 'start_chat')).toBe(0);
    current.change(withTools({ start_chat: 60 }));
    expect(most(() => take(who, 'start_chat'))).toBe(20);
    expect(take(who)).toBe(0);
    current.change(withTools({}));
    expect(take(who, 'start_chat')).toBe(0);
  });

  it('cost nothing where any of them is spent', () => {
    const { take } = limit();
    const heavy = principal();
    expect(most(() => take(heavy))).toBe(20);
    for (let turn = 0; turn < 100; turn += 1) take(heavy);
    expect(most(() => take(principal()))).toBe(10);
  });

  it('know no tool by the name of what every object has', () => {
    expect(limit().take(principal(), 'constructor')).toBe(0);
    expect(createRates(rates).of('tool:constructor').perMinute).toBe(60);
  });
});
