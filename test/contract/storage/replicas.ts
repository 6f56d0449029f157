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

    it('are filled by all, and empty themselves in the time it took', async () => {
      const [here, there] = both();
      expect([...(await here.pour(new Map([['fill', 100]]), now))]).toEqual([['fill', later(100)]]);
      expect([...(await there.pour(new Map([['fill', 50]]), later(40)))]).toEqual([['fill', later(150)]]);
      expect([...(await here.read(['fill', 'never'], later(149)))]).toEqual([['fill', later(150)]]);
      expect([...(await here.read(['fill'], later(150)))]).toEqual([]);
      // From then on as if it had never been filled.
      expect([...(await here.pour(new Map([['fill', 10]]), later(500)))]).toEqual([['fill', later(510)]]);
    });

    it('lose nothing when many pour at once, each into several', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `many ${index % 7} ${index}`);
      const turns = Array.from({ length: 24 }, (_, turn) => turn);
      await Promise.all(
        turns.map((turn) => {
          const order = turn % 2 === 0 ? names : names.toReversed();
          return both()[turn % 2 === 0 ? 0 : 1].pour(new Map(order.map((name) => [name, 1_000])), now);
        }),
      );
      const found = await both()[0].read(names, now);
      expect(found.size).toBe(20);
      for (const emptyAt of found.values()) expect(emptyAt).toEqual(later(24_000));
    });

    it('are listed by how they begin, the fullest first', async () => {
      const [here, there] = both();
      await here.pour(
        new Map([
          ['list x', 10],
          ['list y', 30],
          ['list z', 20],
          ['listed', 99],
          ['LIST a', 99],
        ]),
        now,
      );
      expect([...(await there.list('list ', now, 10)).keys()]).toEqual(['list y', 'list z', 'list x']);
      expect([...(await there.list('list ', later(10), 1)).keys()]).toEqual(['list y']);
    });

    it('are emptied by name, by how they begin, and forgotten when they are empty for long', async () => {
      const [here, there] = both();
      await here.pour(new Map(['end 1', 'end 2', 'end 3 a', 'end 3 b'].map((name) => [name, 100])), now);
      await there.empty(['end 1', 'never']);
      expect([...(await here.list('end', now, 10)).keys()]).toEqual(['end 2', 'end 3 a', 'end 3 b']);
      await there.emptyAll('end 3');
      expect([...(await here.list('end', now, 10)).keys()]).toEqual(['end 2']);
      await there.removeEmpty(later(100));
      expect((await here.read(['end 2'], now)).size).toBe(1);
      await there.removeEmpty(later(101));
      expect((await here.read(['end 2'], now)).size).toBe(0);
    });

    it('are refused for what is no name and no amount', async () => {
      const [here] = both();
      for (const wrong of ['', 'a~', 'é', 'x'.repeat(201)]) {
        expect(await refusal(here.pour(new Map([[wrong, 1]]), now))).toBe('invalid_argument');
        expect(await refusal(here.read([wrong], now))).toBe('invalid_argument');
      }
      for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(await refusal(here.pour(new Map([['x', wrong]]), now))).toBe('invalid_argument');
      }
      const names = Array.from({ length: 501 }, (_, index) => `n${index}`);
      expect(await refusal(here.pour(new Map(names.map((name) => [name, 1])), now))).toBe('invalid_argument');
    });
  });
}
