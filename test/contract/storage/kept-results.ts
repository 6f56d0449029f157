import { newId } from '../../../src/contract/core/index.ts';
import type { KeptResultBounds, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { type MakeStorage, refusal, sharedStage } from './stage.ts';

const now = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number): Date => new Date(now.getTime() + seconds * 1_000);
const bounds: KeptResultBounds = {
  perHolder: { results: 3, bytes: 1_000_000 },
  overall: { results: 5, bytes: 4_000_000 },
};

/** Cut results: found by their holder at every gateway, for a while, and never more of them than was said. */
export function keptResultPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('kept results', () => {
    const stage = sharedStage(runner, make);
    /** One that expires so many seconds after `now`. */
    const keep = async ({ keptResults }: Workspace, seconds: number, holder = 'ann', sealed = `of ${seconds}`) => {
      const id = newId('res');
      await keptResults.keep({ id, holder, sealed, expiresAt: after(seconds) }, bounds, now);
      return id;
    };
    const left = async ({ keptResults }: Workspace, ids: readonly string[], holder = 'ann') => {
      const found = await Promise.all(ids.map((id) => keptResults.find(id, holder, now)));
      return ids.map((_, index) => found[index] !== undefined);
    };

    it('are found whole by every process, by their holder alone, until they expire', async () => {
      const [here, there] = await stage().workspaces();
      const large = 'é'.repeat(200_000);
      const id = await keep(here, 600, 'ann', large);
      expect(await there.keptResults.find(id, 'ann', after(599))).toBe(large);
      expect(await there.keptResults.find(id, 'ann', after(600))).toBeUndefined();
      expect(await there.keptResults.find(id, 'bob', now)).toBeUndefined();
      expect(await there.keptResults.find(newId('res'), 'ann', now)).toBeUndefined();
      expect(await (await stage().workspace()).keptResults.find(id, 'ann', now)).toBeUndefined();
    });

    it('give way to newer ones of their holder, by number and by bytes', async () => {
      const workspace = await stage().workspace();
      const other = await keep(workspace, 1, 'bob');
      const ids = [await keep(workspace, 10), await keep(workspace, 20), await keep(workspace, 30)];
      expect(await left(workspace, ids)).toEqual([true, true, true]);
      ids.push(await keep(workspace, 40));
      expect(await left(workspace, ids)).toEqual([false, true, true, true]);
      ids.push(await keep(workspace, 50, 'ann', 'x'.repeat(999_991)));
      expect(await left(workspace, ids)).toEqual([false, false, false, true, true]);
      expect(await left(workspace, [other], 'bob')).toEqual([true]);
    });

    it('give way to newer ones of the organization, and what has expired does first', async () => {
      const workspace = await stage().workspace();
      const holders = ['a', 'b', 'c', 'd', 'e', 'f'];
      const ids: string[] = [];
      for (const [index, holder] of holders.entries()) ids.push(await keep(workspace, 10 + index, holder));
      const found = await Promise.all(ids.map((id, at) => workspace.keptResults.find(id, holders[at] ?? '', now)));
      expect(found.map((sealed) => sealed !== undefined)).toEqual([false, true, true, true, true, true]);
      await workspace.keptResults.keep(
        { id: newId('res'), holder: 'g', sealed: 's', expiresAt: after(600) },
        bounds,
        after(14),
      );
      // As of before they expired: they are not there any more.
      expect(await left(workspace, ids.slice(0, 5), 'e')).toEqual([false, false, false, false, false]);
      expect(await left(workspace, ids.slice(5), 'f')).toEqual([true]);
    });

    it('are forgotten in all organizations when they have expired', async () => {
      const [one, two] = [await stage().workspace(), await stage().workspace()];
      const ids = [await keep(one, 10), await keep(two, 10), await keep(one, 11)];
      await stage().storage.directory.removeExpiredResults(after(10));
      expect(await left(one, ids)).toEqual([false, false, true]);
      expect(await left(two, ids)).toEqual([false, false, false]);
    });

    it('are refused for what is no id and no organization', async () => {
      const { keptResults } = await stage().workspace();
      const record = { id: newId('res'), holder: 'ann', sealed: 's', expiresAt: after(1) };
      expect(await refusal(keptResults.keep({ ...record, id: '' }, bounds, now))).toBe('invalid_argument');
      expect(await refusal(keptResults.keep({ ...record, holder: 'h'.repeat(65) }, bounds, now))).toBe(
        'invalid_argument',
      );
      const nobody = stage().storage.workspace(newId('org'));
      expect(await refusal(nobody.keptResults.keep(record, bounds, now))).toBe('not_found');
    });
  });
}
