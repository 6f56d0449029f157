import { setTimeout } from 'node:timers/promises';
import type { OrganizationId, StatementPlace } from '../../contract/index.ts';
import type { Runner } from '../runner.ts';
import type { Stage } from './stage.ts';
import { collect, contextOf, renderedOf, testLimits } from './warehouse.ts';

const sql = 'SELECT name FROM otel.spans ORDER BY time';
const askedAtOnce = 20;

/** What `openWithOthers` answers, where a plugin has it. */
export function withOthersPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('statements opened with others', () => {
    /** Of each statement its rows, undefined where it must go alone; and the places that were not given back. */
    async function answers(places: number): Promise<readonly [readonly unknown[], number] | undefined> {
      const { telemetry, own, other } = stage();
      if (telemetry.openWithOthers === undefined) return undefined;
      let taken = 0;
      const enter = (): StatementPlace | undefined => {
        if (taken >= places) return undefined;
        taken += 1;
        return { leave: () => void (taken -= 1) };
      };
      const ask = async (organizationId: OrganizationId, principal: string): Promise<unknown> => {
        const context = contextOf(organizationId, { label: { principal, tool: 'query_otel', traceId: 'abc' } });
        const rendered = await renderedOf(telemetry, sql, context);
        const cursor = await telemetry.openWithOthers?.(rendered, testLimits, context, enter);
        return cursor && (await collect(cursor)).rows;
      };
      const asked = Array.from({ length: askedAtOnce }, (_, index) =>
        index % 2 === 0 ? ask(own, 'ak_1') : ask(other, 'ak_2'),
      );
      const rows = await Promise.all(asked);
      // The last one may have its rows a moment before all have ended.
      for (let waited = 0; waited < 500 && taken > 0; waited += 1) await setTimeout(10);
      return [rows, taken];
    }

    it("have the rows that each has alone, its organization's own", async () => {
      const { own, other } = stage();
      let alone: readonly unknown[] = [];
      // Nothing is known of a statement at first.
      for (let turn = 0; turn < 3; turn += 1) {
        alone = [(await stage().query(sql, { as: own })).rows, (await stage().query(sql, { as: other })).rows];
      }
      expect(alone[0]).toContainEqual(['first']);
      expect(alone[1]).not.toContainEqual(['first']);
      for (let turn = 0; turn < 5; turn += 1) {
        const [rows = [], kept] = (await answers(4)) ?? [undefined, 0];
        for (const [index, each] of rows.entries()) expect([undefined, alone[index % 2]]).toContainEqual(each);
        expect(kept).toBe(0);
      }
    });

    it('are left to go alone where no place is free', async () => {
      const [rows = []] = (await answers(0)) ?? [];
      for (const each of rows) expect(each).toBeUndefined();
    });
  });
}
