import { hashSecret, newId } from '../../../src/contract/core/index.ts';
import type { RegisteredClient } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { awkward, inTurn, type MakeStorage, ownStage, refusal } from './stage.ts';

const dayMs = 24 * 3_600_000;

/** Clients that registered themselves: a bounded crowd of strangers, of whom none is forgotten that was ever used. */
export function clientPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('registered clients', () => {
    const stage = ownStage(runner, make);
    const clients = () => stage().storage.directory.clients;
    const client = (ageMs = 0): RegisteredClient => ({
      id: hashSecret(newId('sec')),
      metadata: '{}',
      createdAt: new Date(Date.now() - ageMs),
    });
    const areKept = (all: readonly RegisteredClient[]) =>
      inTurn(all, async ({ id }) => (await clients().find(id)) !== undefined);

    it('come back field by field', async () => {
      const registered = { ...client(), metadata: JSON.stringify({ client_name: awkward }) };
      expect(await clients().register(registered, 10)).toBe(true);
      expect(await stage().other.directory.clients.find(registered.id)).toEqual(registered);
      for (const id of ['', '%', `${registered.id}x`]) expect(await clients().find(id)).toBeUndefined();
    });

    it('are not replaced by another under the same id', async () => {
      const registered = client();
      await clients().register(registered, 10);
      expect(await refusal(clients().register({ ...registered, metadata: '{"evil":true}' }, 10))).toBe('conflict');
      expect(await clients().find(registered.id)).toEqual(registered);
    });

    it('are as many as are allowed unused, and those used do not count', async () => {
      const [one, two, three, four] = [client(), client(), client(), client()];
      expect(await clients().register(one, 2)).toBe(true);
      expect(await clients().register(two, 2)).toBe(true);
      expect(await clients().register(three, 2)).toBe(false);
      await stage().other.directory.clients.markUsed(one.id, new Date());
      await clients().markUsed(one.id, new Date());
      expect(await clients().register(three, 2)).toBe(true);
      expect(await clients().register(four, 2)).toBe(false);
      expect(await areKept([one, two, three, four])).toEqual([true, true, true, false]);
    });

    it('make room, the oldest first, once they are a quarter of an hour old and were never used', async () => {
      const [used, oldest, old, young, ...next] = [
        client(9 * dayMs),
        client(3 * dayMs),
        client(2 * dayMs),
        client(14 * 60_000),
        client(),
        client(),
        client(),
      ];
      for (const one of [used, young, old, oldest]) await clients().register(one, 4);
      await clients().markUsed(used.id, new Date());
      const all = [used, oldest, old, young];
      expect(await inTurn(next.slice(0, 1), (one) => clients().register(one, 3))).toEqual([true]);
      expect(await areKept(all)).toEqual([true, false, true, true]);
      expect(await inTurn(next.slice(1), (one) => clients().register(one, 3))).toEqual([true, false]);
      expect(await areKept(all)).toEqual([true, false, false, true]);
    });

    it('are brought down to a limit that was lowered', async () => {
      const [one, two, three] = [client(4 * dayMs), client(3 * dayMs), client(2 * dayMs)];
      for (const each of [one, two, three]) await clients().register(each, 3);
      expect(await clients().register(client(), 2)).toBe(true);
      expect(await areKept([one, two, three])).toEqual([false, false, true]);
    });

    it('are not more where several processes register at once', async () => {
      const attempts = Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? stage().storage : stage().other).directory.clients.register(client(), 3),
      );
      expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(3);
    });

    it('may be marked when they are gone', async () => {
      await clients().markUsed('nothing', new Date());
      expect(await clients().find('nothing')).toBeUndefined();
    });
  });
}
