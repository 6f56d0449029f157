import { describe, expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { StatementCache } from './prepare.ts';

const acme = newId('org');
const binding = { minute: 0, start: undefined, end: undefined, rules: undefined };
const statement = (rendered = 'r') => ({
  checked: { tree: {}, tables: [], reaches: [] },
  binding,
  rendered,
  cautions: [],
});

describe('StatementCache', () => {
  it('gives up the statement that was not asked for the longest', () => {
    const cache = new StatementCache({ maxEntries: 2 });
    cache.set(acme, 'a', statement());
    cache.set(acme, 'b', statement());
    expect(cache.get(acme, 'a')).toBeDefined();
    cache.set(acme, 'c', statement());
    expect(
      [cache.get(acme, 'a'), cache.get(acme, 'b'), cache.get(acme, 'c')].map((found) => found !== undefined),
    ).toEqual([true, false, true]);
  });

  it('stays within its weight, counts a replaced statement once, and keeps no giant', () => {
    const cache = new StatementCache({ maxWeight: 100_000 });
    for (let turn = 0; turn < 100; turn += 1) cache.set(acme, 'same', statement('x'.repeat(10_000)));
    cache.set(acme, 'other', statement('x'.repeat(10_000)));
    expect(cache.size).toBe(2);
    for (let turn = 0; turn < 100; turn += 1) cache.set(acme, `q${turn}`, statement('x'.repeat(10_000)));
    expect(cache.size).toBe(4);
    cache.set(acme, 'giant', statement('x'.repeat(100_000)));
    expect(cache.get(acme, 'giant')).toBeUndefined();
    cache.set(acme, 's'.repeat(20_000), statement());
    expect(cache.get(acme, 's'.repeat(20_000))).toBeUndefined();
    expect(cache.size).toBe(4);
  });

  it('keeps organizations apart', () => {
    const cache = new StatementCache();
    cache.set(acme, 'a', statement());
    expect(cache.get(newId('org'), 'a')).toBeUndefined();
  });
});
