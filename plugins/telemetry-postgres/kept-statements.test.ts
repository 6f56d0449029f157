import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { StatementLabel } from '../../src/contract/telemetry/index.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { settleSession, StepsBefore } from './steps.ts';
import { collect, limits } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const label = (principal: string): StatementLabel => ({ principal, tool: 'query_otel', traceId: 'abc' });

/** What is asked again and again is read and planned by the server once a session. */
for (const server of servers) {
  describe(`statements of few rows on ${server.name}`, () => {
    let warehouse: TestWarehouse;
    beforeAll(async () => {
      warehouse = await createWarehouse(server, { pool: { max: 1 } });
      await warehouse.component.start(AbortSignal.timeout(20_000));
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });
    const say = async (sql: string, principal = 'ak_1', organization: 0 | 1 = 0) => {
      const organizationId = warehouse.organizations[organization];
      const context = { organizationId, label: label(principal), signal: new AbortController().signal };
      return await collect(await warehouse.component.open(sql, limits, context));
    };
    const kept = async (organization: 0 | 1 = 0): Promise<readonly unknown[]> => {
      const sql =
        "SELECT statement FROM pg_catalog.pg_prepared_statements WHERE name ~ '^sightline_q_[0-9a-f]{32}$' ORDER BY 1";
      const { rows } = await say(sql, 'ak_looks', organization);
      return rows.flat().filter((text) => !/pg_prepared/.test(String(text)));
    };

    it('are kept from the second time on, by who asks, and never for another organization', async () => {
      expect((await say('SELECT 11 AS n')).rows).toEqual([[11]]);
      expect(await kept()).toEqual([]);
      expect((await say('SELECT 11 AS n')).rows).toEqual([[11]]);
      expect((await say('SELECT 11 AS n', 'ak_2')).rows).toEqual([[11]]);
      expect((await say('SELECT 11 AS n')).rows).toEqual([[11]]);
      expect(await kept()).toEqual([
        "/*principal='ak_1',tool='query_otel'*/ SELECT 11 AS n",
        "/*principal='ak_2',tool='query_otel'*/ SELECT 11 AS n",
      ]);
      // What is known of it is the other organization's own.
      expect((await say('SELECT 11 AS n', 'ak_3', 1)).rows).toEqual([[11]]);
      expect(await kept(1)).toEqual([]);
      expect((await say('SELECT 11 AS n', 'ak_3', 1)).rows).toEqual([[11]]);
      expect(await kept(1)).toEqual(["/*principal='ak_3',tool='query_otel'*/ SELECT 11 AS n"]);
    });

    it('are read anew each time where they name their own moment', async () => {
      const { component, organizations } = warehouse;
      const context = { organizationId: organizations[0], label: label('ak_4'), signal: new AbortController().signal };
      for (const sql of [
        "SELECT timestamptz 'now' AS t",
        "SELECT U&'\\006eow'::timestamptz AS t",
        'SELECT now() AS t',
      ]) {
        const rendered = await component.render(component.check(await component.parse(sql, context)), {}, context);
        const seen = new Set<unknown>();
        for (let turn = 0; turn < 5; turn += 1) {
          for (const [at] of (await collect(await component.open(rendered, limits, context))).rows) seen.add(at);
        }
        expect([sql, seen.size]).toEqual([sql, 5]);
      }
      expect((await kept()).filter((text) => String(text).includes('ak_4'))).toEqual([
        expect.stringMatching(/SELECT now/),
      ]);
    });

    it('are so few that a server has room for them', async () => {
      for (let number = 0; number < 60; number += 1) {
        for (const _ of [1, 2]) expect((await say(`SELECT ${number} AS number`)).rows).toEqual([[number]]);
      }
      const statements = await kept();
      expect(statements.length).toBeGreaterThan(10);
      expect(statements.length).toBeLessThanOrEqual(20);
      expect(statements).toContain("/*principal='ak_1',tool='query_otel'*/ SELECT 59 AS number");
    });

    it('have the columns of now, also where a view has become another', async () => {
      const view = (columns: string) =>
        server.admin(
          `DROP VIEW IF EXISTS public.changing; CREATE VIEW public.changing AS SELECT ${columns}; GRANT SELECT ON public.changing TO ${warehouse.gateway}`,
          warehouse.database,
        );
      await view('1 AS a');
      for (const _ of [1, 2, 3]) expect((await say('SELECT * FROM public.changing')).rows).toEqual([[1]]);
      await view("'x' AS b, 2 AS c");
      const answer = await say('SELECT * FROM public.changing');
      expect([answer.columns.map(({ name }) => name), answer.rows]).toEqual([['b', 'c'], [['x', 2]]]);
      for (const _ of [1, 2, 3]) expect((await say('SELECT * FROM public.changing')).rows).toEqual([['x', 2]]);
    });

    it('are cut where they have come to more rows than are wanted, however slowly the others come, and asked for otherwise then', async () => {
      const locks = "(SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objid = 9)";
      const sql = `SELECT x, pg_catalog.pg_sleep(CASE WHEN x > 20 THEN 0.2 ELSE 0 END)::text FROM pg_catalog.generate_series(1, 4 + 10000 * least(1, ${locks})) AS g(x)`;
      const organizationId = warehouse.organizations[0];
      const rows = async () => {
        const context = { organizationId, label: label('ak_1'), signal: new AbortController().signal };
        const own = { ...limits, maxRows: 5, timeoutMs: 10_000 };
        const { rows: found, end } = await collect(await warehouse.component.open(sql, own, context));
        return [found.length, end?.truncated];
      };
      for (const _ of [1, 2]) expect(await rows()).toEqual([4, undefined]);
      const holder = new pg.Client({
        connectionString: server.url(warehouse.database, warehouse.gateway, warehouse.password),
      });
      await holder.connect();
      try {
        await holder.query('SELECT pg_advisory_lock(9)');
        for (const _ of [1, 2, 3]) expect(await rows()).toEqual([5, 'rows']);
      } finally {
        await holder.end();
      }
      expect((await say('SELECT 1')).rows).toEqual([[1]]);
    });

    it('mean the same in a session that was never settled, as a pooler may give us', async () => {
      const [, settings] = new StepsBefore().of(1_000, 'token');
      const names = ['search_path', 'TimeZone', 'DateStyle', 'IntervalStyle', 'extra_float_digits', 'enable_nestloop'];
      const seen = [];
      for (const settled of [true, false]) {
        const client = new pg.Client({
          connectionString: server.url(warehouse.database, warehouse.gateway, warehouse.password),
        });
        await client.connect();
        try {
          await client.query("SET TimeZone = 'Asia/Tokyo'; SET enable_nestloop = on; SET search_path = public");
          if (settled) await client.query(settleSession);
          await client.query('BEGIN READ ONLY');
          await client.query(settings?.text ?? '', [...(settings?.values ?? [])]);
          const { rows } = await client.query<{ value: string }>(
            `SELECT pg_catalog.current_setting(name) AS value FROM pg_catalog.unnest($1::text[]) AS name`,
            [names],
          );
          seen.push(rows.map(({ value }) => value));
        } finally {
          await client.end();
        }
      }
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[0]?.slice(0, 2)).toEqual(['pg_catalog, pg_temp', 'UTC']);
    });
  });
}
