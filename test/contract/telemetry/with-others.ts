import { setTimeout } from 'node:timers/promises';
import { SightlineError } from '../../../src/contract/core/index.ts';
import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { StatementPlace, TakePlace } from '../../../src/contract/telemetry/index.ts';
import type { Runner } from '../runner.ts';
import type { Stage } from './stage.ts';
import { collect, contextOf, renderedOf, testLimits } from './warehouse.ts';

const sql = 'SELECT name FROM otel.spans ORDER BY time';
const askedAtOnce = 20;

/** What `openWithOthers` answers, where a plugin has it. */
export function withOthersPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('statements opened with others', () => {
    /** Of each statement its rows, undefined where it must go alone, or what it is refused with. */
    async function answers(take: TakePlace): Promise<readonly unknown[]> {
      const { telemetry, own, other } = stage();
      const ask = async (organizationId: OrganizationId, principal: string): Promise<unknown> => {
        const context = contextOf(organizationId, { label: { principal, tool: 'query_otel', traceId: 'abc' } });
        const rendered = await renderedOf(telemetry, sql, context);
        const cursor = await telemetry.openWithOthers?.(rendered, testLimits, context, take);
        return cursor && (await collect(cursor)).rows;
      };
      const asked = Array.from({ length: askedAtOnce }, (_, index) =>
        index % 2 === 0 ? ask(own, 'ak_1') : ask(other, 'ak_2'),
      );
      return await Promise.all(asked.map((answer) => answer.catch((error: unknown) => error)));
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
      const places = new Places(3);
      for (let turn = 0; turn < 5; turn += 1) {
        for (const [index, rows] of (await answers(() => places.take())).entries()) {
          expect([undefined, alone[index % 2]]).toContainEqual(rows);
        }
        // The last one may have its rows a moment before all have ended.
        for (let waited = 0; waited < 500 && places.taken > 0; waited += 1) await setTimeout(10);
        expect(places.taken).toBe(0);
      }
    });

    it('are told what there is no place for them with', async () => {
      const full = new SightlineError('rate_limited', 'Too many queries wait.');
      const told = await answers(async () => {
        throw full;
      });
      for (const each of told) expect([undefined, full]).toContain(each);
    });
  });
}

/** So many, and whoever comes later waits for the next one. */
class Places {
  #free: number;
  readonly #waiting: ((place: StatementPlace) => void)[] = [];
  readonly #all: number;

  constructor(all: number) {
    this.#all = this.#free = all;
  }

  get taken(): number {
    return this.#all - this.#free;
  }

  take(): StatementPlace | Promise<StatementPlace> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return this.#place();
  }

  #place(): StatementPlace {
    return {
      leave: () => {
        const next = this.#waiting.shift();
        if (next === undefined) this.#free += 1;
        else next(this.#place());
      },
    };
  }
}
