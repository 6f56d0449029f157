import { describe, expect, it } from '@jest/globals';
import { BoundedWork } from './bounded-work.ts';

describe('bounded work', () => {
  it('runs so much at once, keeps a line in order, and refuses what is beyond it', async () => {
    const bounded = new BoundedWork({ atOnce: 2, inLine: 1 });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = (number: number) => (): Promise<number> => {
      begun.push(number);
      return new Promise((resolve) => ends.push(() => resolve(number)));
    };
    const running = [1, 2, 3].map((number) => bounded.run(work(number)));
    await expect(bounded.run(work(4))).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(begun).toEqual([1, 2]);
    ends[0]?.();
    expect(await running[0]).toBe(1);
    await Promise.resolve();
    expect(begun).toEqual([1, 2, 3]);
    ends[1]?.();
    ends[2]?.();
    expect(await Promise.all(running)).toEqual([1, 2, 3]);
    const again = bounded.run(async () => 5);
    expect(await again).toBe(5);
  });

  it('gives the place back when work fails', async () => {
    const bounded = new BoundedWork({ atOnce: 1, inLine: 0 });
    await expect(bounded.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await bounded.run(async () => 1)).toBe(1);
  });
});
