import { describe, expect, it } from '@jest/globals';
import { SightlineError } from '../contract/core/index.ts';
import { createWorkQueue, type Lane } from './work-queue.ts';

/** Work that ends when it is told to. */
function desk(atOnce: number, mostWaiting: number) {
  const queue = createWorkQueue({
    atOnce,
    mostWaiting,
    full: () => new SightlineError('unavailable', 'Full.', { retryAfterSeconds: 5 }),
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (lane: Lane, name: string, party = 'all') =>
    queue.run({ lane, party }, () => {
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

  it('lets the parties of a lane take turns', async () => {
    const { begun, add, end } = desk(1, 8);
    for (const name of ['a0', 'a1', 'a2', 'a3']) void add('known', name, 'a');
    void add('known', 'b1', 'b');
    void add('known', 'b2', 'b');
    for (let count = 0; count < 6; count += 1) await end(begun.at(-1) ?? '');
    expect(begun).toEqual(['a0', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('has who waits with the most make room for another, and never for themselves', async () => {
    const { begun, add, end } = desk(1, 3);
    const many = ['a0', 'a1', 'a2', 'a3'].map((name) => add('known', name, 'a'));
    const last = expect(many[3]).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    await expect(add('known', 'a4', 'a')).rejects.toMatchObject({ code: 'unavailable' });
    void add('known', 'b1', 'b');
    await last;
    // Each has two or fewer now, and nobody takes a place from who has no more than they.
    await expect(add('known', 'b2', 'b')).rejects.toMatchObject({ code: 'unavailable' });
    void add('known', 'c1', 'c');
    await expect(many[2]).rejects.toMatchObject({ code: 'unavailable' });
    await expect(add('known', 'd1', 'd')).rejects.toMatchObject({ code: 'unavailable' });
    for (let count = 0; count < 4; count += 1) await end(begun.at(-1) ?? '');
    expect(begun).toEqual(['a0', 'a1', 'b1', 'c1']);
  });

  it('gives the place back when the work fails', async () => {
    const { queue } = desk(1, 0);
    await expect(queue.run({ lane: 'known', party: 'all' }, () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    await expect(queue.run({ lane: 'known', party: 'all' }, async () => 1)).resolves.toBe(1);
  });
});
