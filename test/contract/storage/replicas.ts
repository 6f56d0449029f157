import type { Runner } from '../runner.ts';
import { type MakeStorage, refusal, sharedStage } from './stage.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);

/** What gateways over one storage know of each other. */
export function replicaPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('gateways', () => {
    const stage = sharedStage(runner, make);

    it('see each other for as long as they say that they serve', async () => {
      const [here, there] = [stage().storage.directory.gateways, stage().other.directory.gateways];
      await here.announce({ id: 'a', host: 'one', seenAt: now });
      await there.announce({ id: 'b', host: 'two', telemetryIn: 'dir', seenAt: later(1_000) });
      expect(await here.list(now)).toEqual([
        { id: 'a', host: 'one', seenAt: now },
        { id: 'b', host: 'two', telemetryIn: 'dir', seenAt: later(1_000) },
      ]);
      expect((await there.list(later(1))).map(({ id }) => id)).toEqual(['b']);
      await here.announce({ id: 'a', host: 'one', seenAt: later(2_000) });
      expect((await there.list(later(1))).map(({ id }) => id)).toEqual(['a', 'b']);
      await there.remove('b');
      expect((await here.list(now)).map(({ id }) => id)).toEqual(['a']);
      await here.removeUnseen(later(2_000));
      expect(await here.list(now)).toHaveLength(1);
      await here.removeUnseen(later(2_001));
      expect(await here.list(now)).toEqual([]);
    });
  });

  describe('shared buckets', () => {
    const stage = sharedStage(runner, make);
    const both = () => [stage().storage.directory.buckets, stage().other.directory.buckets] as const;

    const size = 100_000;
    const sizes = (...names: readonly string[]) => new Map(names.map((name) => [name, size]));
    const portions = (amounts: Readonly<Record<string, number>>) =>
      new Map(Object.entries(amounts).map(([name, amount]) => [name, { amount, size }]));

    it('are filled by all, and empty themselves in the time it took', async () => {
      const [here, there] = both();
      expect([...(await here.pour(portions({ fill: 100 }), now))]).toEqual([['fill', later(100)]]);
      expect([...(await there.pour(portions({ fill: 50 }), later(40)))]).toEqual([['fill', later(150)]]);
      expect([...(await here.read(sizes('fill', 'never'), later(149)))]).toEqual([['fill', later(150)]]);
      expect([...(await here.read(sizes('fill'), later(150)))]).toEqual([]);
      // From then on as if it had never been filled.
      expect([...(await here.pour(portions({ fill: 10 }), later(500)))]).toEqual([['fill', later(510)]]);
    });

    it('lose nothing when many pour at once, each into several', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `many ${index % 7} ${index}`);
      const turns = Array.from({ length: 24 }, (_, turn) => turn);
      await Promise.all(
        turns.map((turn) => {
          const order = turn % 2 === 0 ? names : names.toReversed();
          const poured = portions(Object.fromEntries(order.map((name) => [name, 1_000])));
          return both()[turn % 2 === 0 ? 0 : 1].pour(poured, now);
        }),
      );
      const found = await both()[0].read(sizes(...names), now);
      expect(found.size).toBe(20);
      for (const emptyAt of found.values()) expect(emptyAt).toEqual(later(24_000));
    });

    it('hold no more than their size, each its own, whoever pours', async () => {
      const [here, there] = both();
      const poured = new Map([
        ['hold a', { amount: 700, size: 1_000 }],
        ['hold b', { amount: 700, size: 5_000 }],
        ['hold c', { amount: 700, size: 500 }],
      ]);
      await Promise.all([here.pour(poured, now), there.pour(poured, now), here.pour(poured, now)]);
      const held = { 'hold a': later(1_000), 'hold b': later(2_100), 'hold c': later(500) };
      expect(Object.fromEntries(await there.read(sizes(...poured.keys()), now))).toEqual(held);
    });

    it('count as empty where a clock that was ahead filled them, and as full where it differs by a moment', async () => {
      const [here, there] = both();
      const month = 30 * 86_400_000;
      await here.pour(portions({ 'ahead a': size, 'ahead b': size }), later(month));
      await here.pour(portions({ 'ahead c': size }), later(30_000));
      expect([...(await there.read(sizes('ahead a', 'ahead c'), now))]).toEqual([['ahead c', later(30_000 + size)]]);
      expect([...(await there.list('ahead', size, now, 1)).keys()]).toEqual(['ahead c']);
      const poured = await there.pour(portions({ 'ahead a': 70, 'ahead c': 70 }), now);
      expect(Object.fromEntries(poured)).toEqual({ 'ahead a': later(70), 'ahead c': later(size) });
      expect([...(await here.read(sizes('ahead a'), now))]).toEqual([['ahead a', later(70)]]);
    });

    it('are listed by how they begin, the fullest first', async () => {
      const [here, there] = both();
      await here.pour(portions({ 'list x': 10, 'list y': 30, 'list z': 20, listed: 99, 'LIST a': 99 }), now);
      expect([...(await there.list('list ', size, now, 10)).keys()]).toEqual(['list y', 'list z', 'list x']);
      expect([...(await there.list('list ', size, later(10), 1)).keys()]).toEqual(['list y']);
    });

    it('are emptied by name, by how they begin, and forgotten when they are empty for long', async () => {
      const [here, there] = both();
      await here.pour(portions({ 'end 1': 100, 'end 2': 100, 'end 3 a': 100, 'end 3 b': 100 }), now);
      await there.empty(['end 1', 'never']);
      expect([...(await here.list('end', size, now, 10)).keys()]).toEqual(['end 2', 'end 3 a', 'end 3 b']);
      await there.emptyAll('end 3');
      expect([...(await here.list('end', size, now, 10)).keys()]).toEqual(['end 2']);
      await there.removeEmpty(later(100));
      expect((await here.read(sizes('end 2'), now)).size).toBe(1);
      await there.removeEmpty(later(101));
      expect((await here.read(sizes('end 2'), now)).size).toBe(0);
    });

    it('are refused for what is no name and no amount', async () => {
      const [here] = both();
      for (const wrong of ['', 'a~', 'é', 'x'.repeat(201)]) {
        expect(await refusal(here.pour(portions({ [wrong]: 1 }), now))).toBe('invalid_argument');
        expect(await refusal(here.read(sizes(wrong), now))).toBe('invalid_argument');
      }
      for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(await refusal(here.pour(portions({ x: wrong }), now))).toBe('invalid_argument');
        const wrongSize = new Map([['x', { amount: 1, size: wrong }]]);
        expect(await refusal(here.pour(wrongSize, now))).toBe('invalid_argument');
      }
      const names = Array.from({ length: 501 }, (_, index) => `n${index}`);
      const many = portions(Object.fromEntries(names.map((name) => [name, 1])));
      expect(await refusal(here.pour(many, now))).toBe('invalid_argument');
    });
  });
}
