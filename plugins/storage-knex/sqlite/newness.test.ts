import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { Newness } from './newness.ts';

/** In so many of the next turns it would be asked. */
function asked(newness: Newness, turns: number): number {
  let count = 0;
  for (let turn = 0; turn < turns; turn += 1) if (newness.version() !== undefined) count += 1;
  return count;
}

describe('the question whether anything is new', () => {
  it('is asked each time where the answer mostly is no', () => {
    const newness = new Newness(new DatabaseSync(':memory:'));
    for (let turn = 0; turn < 2_000; turn += 1) {
      const version = newness.version();
      expect(version).toBeDefined();
      newness.isUnchanged(turn % 4 === 0 ? -1 : version, version);
    }
  });

  it('is asked where the answer is no for one in three, as long as several look-ups share it', () => {
    const newness = new Newness(new DatabaseSync(':memory:'));
    for (let turn = 0; turn < 2_000; turn += 1) {
      const version = newness.version();
      expect(version).toBeDefined();
      for (const before of [version, -1, -1]) newness.isUnchanged(before, version);
    }
  });

  it('is left for a while where the answer mostly is yes, and then asked again', () => {
    const newness = new Newness(new DatabaseSync(':memory:'));
    for (let turn = 0; turn < 256; turn += 1) newness.isUnchanged(-1, newness.version());
    expect(asked(newness, 1 + 256 * 16)).toBe(1);
    expect(asked(newness, 100)).toBe(100);
  });

  it('is left where nobody comes twice', () => {
    const newness = new Newness(new DatabaseSync(':memory:'));
    expect(asked(newness, 200_000)).toBeLessThan(30_000);
  });

  it('knows nothing of what was not asked', () => {
    const newness = new Newness(new DatabaseSync(':memory:'));
    expect(newness.isUnchanged(undefined, undefined)).toBe(false);
    expect(newness.isUnchanged(undefined, 1)).toBe(false);
    expect(newness.isUnchanged(1, undefined)).toBe(false);
    expect(newness.isUnchanged(1, 2)).toBe(false);
    expect(newness.isUnchanged(2, 2)).toBe(true);
  });
});
