import { newId } from '../../../src/contract/core/index.ts';
import type { Runner } from '../runner.ts';
import { type MakeStorage, refusal, sharedStage } from './stage.ts';

const day = '2026-03-01';

/** What queries read, by day: counted exactly, whoever counts at the same time. */
export function scanPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('scanned bytes', () => {
    const stage = sharedStage(runner, make);

    it('begin at nothing and add up, each day by itself, for every process', async () => {
      const [here, there] = await stage().workspaces();
      expect(await here.scans.total(day)).toBe(0);
      expect(await here.scans.add(day, 5_000_000_000_000)).toBe(5_000_000_000_000);
      expect(await there.scans.add(day, 7)).toBe(5_000_000_000_007);
      expect(await here.scans.total(day)).toBe(5_000_000_000_007);
      expect(await here.scans.total('2026-03-02')).toBe(0);
    });

    it('lose nothing when two processes add at once, and each answer is another', async () => {
      const [here, there] = await stage().workspaces();
      const totals = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here : there).scans.add(day, 10)),
      );
      expect(await here.scans.total(day)).toBe(200);
      expect(totals.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => (index + 1) * 10));
    });

    it('can be given back, but not below nothing', async () => {
      const { scans } = await stage().workspace();
      await scans.add(day, 100);
      expect(await scans.add(day, -30)).toBe(70);
      expect(await scans.add(day, 0)).toBe(70);
      expect(await scans.add(day, -1_000)).toBe(0);
      expect(await scans.add(day, 1)).toBe(1);
    });

    it('stop at the largest integer that is exact', async () => {
      const { scans } = await stage().workspace();
      await scans.add(day, Number.MAX_SAFE_INTEGER - 1);
      expect(await scans.add(day, Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
      expect(await scans.total(day)).toBe(Number.MAX_SAFE_INTEGER);
    });

    it('are refused for what is no day, no integer and no organization', async () => {
      const { scans } = await stage().workspace();
      for (const wrong of ['', '2026-3-1', "2026-03-01' OR 1=1", '2026-03-01T00']) {
        expect(await refusal(scans.add(wrong, 1))).toBe('invalid_argument');
        expect(await refusal(scans.total(wrong))).toBe('invalid_argument');
      }
      for (const wrong of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
        expect(await refusal(scans.add(day, wrong))).toBe('invalid_argument');
      }
      expect(await refusal(stage().storage.workspace(newId('org')).scans.add(day, 1))).toBe('not_found');
    });
  });
}
