import { describe, expect, it } from '@jest/globals';
import { newId } from '../contract/core/index.ts';
import { limitCallsAtOnce } from './at-once.ts';

const acme = newId('org');
const caller = (organizationId = acme) => ({ organizationId, subject: newId('ak') });

/** How many may enter before the first may not. */
function most(enter: () => boolean): number {
  let count = 0;
  while (enter()) count += 1;
  return count;
}

describe('calls at once', () => {
  it('are limited of each principal by itself, and a place is free again once it is left', () => {
    const calls = limitCallsAtOnce({ each: 3, tools: {} });
    const [first, second] = [caller(), caller()];
    expect(most(() => calls.enter(first, 'query_otel'))).toBe(3);
    expect(calls.enter(first, 'read_chat')).toBe(false);
    expect(most(() => calls.enter(second, 'read_chat'))).toBe(3);
    calls.leave(first, 'query_otel');
    expect(most(() => calls.enter(first, 'read_chat'))).toBe(1);
  });

  it('are limited of a tool by all of an organization, and of another organization by itself', () => {
    const calls = limitCallsAtOnce({ each: 100, tools: { query_otel: 2 } });
    expect(calls.enter(caller(), 'query_otel')).toBe(true);
    expect(calls.enter(caller(), 'query_otel')).toBe(true);
    expect(calls.enter(caller(), 'query_otel')).toBe(false);
    expect(calls.enter(caller(), 'read_chat')).toBe(true);
    expect(calls.enter(caller(newId('org')), 'query_otel')).toBe(true);
  });

  it('takes nothing of a call that it refuses', () => {
    const calls = limitCallsAtOnce({ each: 1, tools: { query_otel: 1 } });
    const [first, second] = [caller(), caller()];
    expect(calls.enter(first, 'query_otel')).toBe(true);
    expect(calls.enter(second, 'query_otel')).toBe(false);
    expect(calls.enter(second, 'read_chat')).toBe(true);
  });

  it('counts on where it has forgotten all that rest', () => {
    const calls = limitCallsAtOnce({ each: 2, tools: {} });
    const busy = caller();
    expect(calls.enter(busy, 'query_otel')).toBe(true);
    for (let count = 0; count < 10_100; count += 1) {
      const passing = caller();
      expect(calls.enter(passing, 'query_otel')).toBe(true);
      calls.leave(passing, 'query_otel');
    }
    expect(most(() => calls.enter(busy, 'query_otel'))).toBe(1);
    expect(() => calls.leave(caller(), 'query_otel')).toThrow('nobody entered');
  });
});
