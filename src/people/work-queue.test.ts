import { describe, expect, it } from '@jest/globals';
import { createWorkQueue } from './work-queue.ts';
import type { Lane } from './work-queue.ts';

/** Work that ends when it is told to. */
function desk(atOnce: number, mostWaiting: number) {
  const queue = createWorkQueue({ atOnce, mostWaiting });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (lane: Lane, name: string) =>
    queue.run(lane, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const settle = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await settle();
  };
  return { queue, begun, add, end, settle };
}

describe('the queue', () => {
  it('runs no more at once than it may, and refuses what does not fit', async () => {
    const { begun, add, end, settle } = desk(2, 1);
    const all = [add('stranger', 'a'), add('stranger', 'b'), add('stranger', 'c')];
    await expect(add('stranger', 'd')).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    expect(begun).toEqual(['a', 'b']);
    for (const name of ['a', 'b', 'c']) await end(name);
    expect(begun).toEqual(['a', 'b', 'c']);
    await Promise.all(all);
    void add('stranger', 'e');
    void add('stranger', 'f');
    await settle();
    expect(begun).toEqual(['a', 'b', 'c', 'e', 'f']);
  });

  it('lets the lanes take turns, and keeps a place for one while the other is full', async () => {
    const { begun, add, end } = desk(1, 3);
    void add('stranger', 's0');
    for (const name of ['s1', 's2', 's3']) void add('stranger', name);
    await expect(add('stranger', 's4')).rejects.toMatchObject({ code: 'unavailable' });
    void add('known', 'k1');
    void add('known', 'k2');
    for (let count = 0; count < 6; count += 1) await end(begun.at(-1) ?? '');
    expect(begun).toEqual(['s0', 'k1', 's1', 'k2', 's2', 's3']);
  });

  it('gives the place back when the work fails', async () => {
    const { queue } = desk(1, 0);
    await expect(queue.run('known', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(queue.run('known', async () => 1)).resolves.toBe(1);
  });
});
