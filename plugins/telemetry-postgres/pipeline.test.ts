import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatementLabel } from '../../src/contract/telemetry/index.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { collect, limits } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const label = (principal: string): StatementLabel => ({ principal, tool: 'query_otel', traceId: 'abc' });
/** When its transaction began: the same for statements that went together. */
const moment = (n: number) => `SELECT pg_catalog.transaction_timestamp()::text, ${n}`;

interface Asked {
  readonly principal?: string;
  readonly organization?: 0 | 1;
  readonly signal?: AbortSignal;
}

for (const server of servers) {
  describe(`small statements at once on ${server.name}`, () => {
    let warehouse: TestWarehouse;
    beforeAll(async () => {
      warehouse = await createWarehouse(server);
      await warehouse.component.start(AbortSignal.timeout(20_000));
      await server.admin(
        `CREATE TABLE public.knobs (name text, n int); INSERT INTO public.knobs VALUES ('divisor', 1), ('pause', 0), ('rows', 1);
         GRANT SELECT ON public.knobs TO ${warehouse.gateway};
         CREATE FUNCTION public.end_session(n int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
         AS 'SELECT CASE WHEN n > 0 THEN pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) END'`,
        warehouse.database,
      );
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });
    const say = async (sql: string, { principal = 'ak_1', organization = 0, signal }: Asked = {}) => {
      const organizationId = warehouse.organizations[organization];
      const context = { organizationId, label: label(principal), signal: signal ?? new AbortController().signal };
      return await collect(await warehouse.component.open(sql, limits, context));
    };
    const turn = async (name: string, n: number) =>
      await server.admin(`UPDATE public.knobs SET n = ${n} WHERE name = '${name}'`, warehouse.database);
    const knob = (name: string) => `(SELECT n FROM public.knobs WHERE name = '${name}')`;
    const moments = [1, 2, 3, 4, 5].map(moment);
    /** Known to be small and quick from then on. */
    const known = async (sql: string, asked?: Asked) => {
      for (let time = 0; time < 3; time += 1) await say(sql, asked);
    };
    /** All but the first few begin at one moment. On a busy machine one may not have been quick, and is the next time. */
    const together = async (statements: readonly string[], first: number) => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const answers = await Promise.all(statements.map(async (sql) => await say(sql)));
        if (begun(answers.slice(first)) === 1) return answers;
      }
      throw new Error('they never went together');
    };
    const begun = (answers: readonly { readonly rows: readonly (readonly unknown[])[] }[]) =>
      new Set(answers.map(({ rows }) => rows[0]?.[0])).size;
    beforeAll(async () => {
      for (const sql of moments) await known(sql);
    });

    it('go in one transaction, and each has its own rows', async () => {
      const wide = "SELECT n, CASE WHEN n % 2 = 0 THEN 'é\"' END AS text FROM generate_series(1, 300) AS n";
      const over = 'SELECT n FROM generate_series(1, 2000) AS n';
      await known(wide);
      await known(over);
      const [all, cut, ...answers] = await together([wide, over, ...moments], 2);
      expect(answers.map(({ rows }) => rows[0]?.[1])).toEqual([1, 2, 3, 4, 5]);
      expect(all?.columns.map(({ name }) => name)).toEqual(['n', 'text']);
      expect(all?.rows.slice(0, 2)).toEqual([
        [1, null],
        [2, 'é"'],
      ]);
      expect([all?.rows.length, all?.end]).toEqual([300, { cutCells: 0 }]);
      expect([cut?.rows.length, cut?.end]).toEqual([1_000, { truncated: 'rows', cutCells: 0 }]);
    });

    it('leave a session to another tenant, however many one sends', async () => {
      const ended: string[] = [];
      const holding = [0, 1, 2].map(async (n) => {
        await say(`SELECT pg_catalog.pg_sleep(1)::text, ${n}`);
        ended.push('holding');
      });
      await say(moments[0] ?? '', { organization: 1 });
      ended.push('other');
      await Promise.all(holding);
      expect(ended).toEqual(['other', 'holding', 'holding', 'holding']);
    });

    it('wait for one session where none is free, whoever of them leaves meanwhile', async () => {
      const holding = [0, 1].map(async (n) => await say(`SELECT pg_catalog.pg_sleep(0.5)::text, ${n}`));
      const [first = '', ...others] = moments;
      const leaving = new AbortController();
      const left = expect(say(first, { signal: leaving.signal })).rejects.toMatchObject({ code: 'query_cancelled' });
      const answers = Promise.all([...others, ...others].map(async (sql) => await say(sql)));
      await sleep(50);
      leaving.abort();
      await left;
      expect(begun(await answers)).toBe(1);
      await Promise.all(holding);
    });

    it('are answered where many more come than may be gathered', async () => {
      const many = Array.from({ length: 200 }, (_, index) => moments[index % moments.length] ?? '');
      const answers = await Promise.all(many.map(async (sql) => await say(sql)));
      expect(answers.map(({ rows }) => rows[0]?.[1])).toEqual(many.map((_, index) => 1 + (index % moments.length)));
    });

    it("go alone beside another asker's and another organization's, whose transactions are their own", async () => {
      const [sql = ''] = moments;
      const own = "SELECT pg_catalog.split_part(pg_catalog.current_setting('otel.token'), '|', 3)";
      for (const organization of [0, 1] as const) await known(own, { organization });
      await known(sql, { principal: 'ak_2' });
      const asked = Array.from({ length: 40 }, (_, index) => (index * 7) % 3 === 0);
      const [one, other, ...tenants] = await Promise.all([
        say(sql),
        say(sql, { principal: 'ak_2' }),
        ...asked.map(async (second) => await say(own, { organization: second ? 1 : 0 })),
      ]);
      expect(begun([one, other])).toBe(2);
      const { organizations } = warehouse;
      expect(tenants.map(({ rows }) => rows[0]?.[0])).toEqual(asked.map((second) => organizations[second ? 1 : 0]));
    });

    it('are answered each as it would be alone, whoever asks for whichever at once', async () => {
      const own = "pg_catalog.split_part(pg_catalog.current_setting('otel.token'), '|', 3)";
      // More than a session keeps prepared, so that some are forgotten and read again within one packet.
      const texts = Array.from({ length: 45 }, (_, n) => `SELECT ${n}, pg_catalog.repeat('x', ${n * 7}), ${own}`);
      const burst = fc.array(
        fc.record({ n: fc.nat(44), organization: fc.constantFrom(0, 1), principal: fc.constantFrom('ak_1', 'ak_2') }),
        { minLength: 1, maxLength: 50 },
      );
      await fc.assert(
        fc.asyncProperty(burst, async (asked) => {
          const answers = await Promise.all(asked.map(async ({ n, ...asker }) => await say(texts[n] ?? '', asker)));
          expect(answers.map(({ rows }) => rows)).toEqual(
            asked.map(({ n, organization }) => [[n, 'x'.repeat(n * 7), warehouse.organizations[organization]]]),
          );
        }),
        { numRuns: 60 },
      );
    });

    it('are answered each where one fails, which says why', async () => {
      const failing = `SELECT 1 / ${knob('divisor')}`;
      await known(failing);
      await turn('divisor', 0);
      const [first, , third] = moments;
      const [before, failed, after] = await Promise.allSettled(
        [first ?? '', failing, third ?? ''].map((sql) => say(sql)),
      );
      expect([before?.status, after?.status]).toEqual(['fulfilled', 'fulfilled']);
      expect(failed).toMatchObject({ reason: { message: expect.stringContaining('division by zero') } });
      await turn('divisor', 1);
      expect((await say(failing)).rows).toEqual([[1]]);
    });

    it('wait no longer than a moment behind one that has become slow, which is answered too', async () => {
      const slow = `SELECT pg_catalog.pg_sleep(${knob('pause')}) IS NULL`;
      await known(slow);
      await turn('pause', 3);
      const started = performance.now();
      const pending = say(slow);
      const answers = await Promise.all(moments.map(async (sql) => await say(sql)));
      expect(answers.map(({ rows }) => rows[0]?.[1])).toEqual([1, 2, 3, 4, 5]);
      expect(performance.now() - started).toBeLessThan(2_500);
      expect((await pending).rows).toEqual([[false]]);
      // From then on it goes alone.
      const again = say(slow);
      await together(moments, 0);
      expect((await again).rows).toEqual([[false]]);
      await turn('pause', 0);
    });

    it('are answered where one is cancelled', async () => {
      const slow = `SELECT pg_catalog.pg_sleep(${knob('pause')}) IS NULL, 'cancelled'`;
      await known(slow);
      await turn('pause', 1);
      const cancelled = new AbortController();
      const pending = expect(say(slow, { signal: cancelled.signal })).rejects.toMatchObject({
        code: 'query_cancelled',
      });
      const others = moments.map(async (sql) => await say(sql));
      setTimeout(() => cancelled.abort(), 20);
      await pending;
      expect((await Promise.all(others)).map(({ rows }) => rows[0]?.[1])).toEqual([1, 2, 3, 4, 5]);
      await turn('pause', 0);
    });

    it('are answered where one ends their connection', async () => {
      const ending = `SELECT public.end_session(${knob('pause')})`;
      await known(ending);
      await turn('pause', 1);
      const [first = '', ...others] = moments;
      const [before, ended, ...after] = await Promise.allSettled([first, ending, ...others].map((sql) => say(sql)));
      expect([before, ...after].map((settled) => settled?.status)).toEqual(moments.map(() => 'fulfilled'));
      expect(ended).toMatchObject({ reason: { code: 'telemetry_unavailable' } });
      await turn('pause', 0);
    });

    it('that have many rows by now are sent by themselves, and have them', async () => {
      const growing = `SELECT pg_catalog.repeat('x', 10000) FROM generate_series(1, ${knob('rows')})`;
      await known(growing);
      await turn('rows', 2_000);
      const [answer, ...others] = await Promise.all([growing, ...moments].map(async (sql) => await say(sql)));
      expect(others.map(({ rows }) => rows[0]?.[1])).toEqual([1, 2, 3, 4, 5]);
      expect([answer?.rows.length, answer?.end]).toEqual([99, { truncated: 'bytes', cutCells: 0 }]);
      await turn('rows', 1);
    });
  });
}
