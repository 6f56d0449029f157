import { describe, expect, it } from '@jest/globals';
import { createLeakyBuckets } from './leaky-buckets.ts';

describe('leaky buckets', () => {
  it('take bounded memory, and forget the longest untouched first', () => {
    const buckets = createLeakyBuckets({ size: 10, leakMs: 1_000, now: () => new Date(0), capacity: 100 });
    for (let index = 0; index < 100_000; index += 1) {
      buckets.add(`name ${index}`);
      buckets.add('mine');
    }
    expect(buckets.names).toBe(100);
    expect(buckets.level('mine')).toBe(10);
    expect(buckets.level('name 0')).toBe(0);
  });

  it('make nobody wait longer than for one to leak away', () => {
    const buckets = createLeakyBuckets({ size: 10, leakMs: 1_000, now: () => new Date(0), capacity: 100 });
    for (let index = 0; index < 9; index += 1) buckets.add('a');
    expect(buckets.wait('a')).toBe(0);
    for (let index = 0; index < 1_000; index += 1) buckets.add('a');
    expect(buckets.wait('a')).toBe(1);
    expect(buckets.wait('a', 3)).toBe(8);
  });

  it('keep nothing of what has been taken back', () => {
    const buckets = createLeakyBuckets({ size: 10, leakMs: 1_000, now: () => new Date(0), capacity: 100 });
    buckets.add('a');
    buckets.add('a');
    buckets.takeBack('a');
    expect(buckets.level('a')).toBe(1);
    buckets.takeBack('a');
    buckets.takeBack('a');
    expect(buckets.names).toBe(0);
  });
});
