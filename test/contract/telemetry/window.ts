import type { Runner } from '../runner.ts';
import { minutes, type Stage } from './stage.ts';
import { collect, contextOf, testLimits } from './warehouse.ts';

/** Whose rows, and which of them. */
export function windowPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('isolation', () => {
    it('shows each organization its own rows alone', async () => {
      for (const table of stage().tables) {
        const sql = `SELECT service_name FROM otel.${table} ORDER BY time`;
        expect((await stage().query(sql)).rows).toEqual([['first'], ['second'], ['third']]);
        expect((await stage().query(sql, { as: stage().other })).rows).toEqual([['foreign']]);
      }
    });

    it('is not a predicate that the caller can widen', async () => {
      const { rows } = await stage().query("SELECT count(*) FROM otel.spans WHERE name = 'foreign' OR 1 = 1");
      expect(rows).toEqual([['3']]);
    });
  });

  describe('a window', () => {
    const window = { start: minutes(10), end: minutes(20) };

    it('holds its start and not its end', async () => {
      for (const table of stage().tables) {
        const { rows } = await stage().query(`SELECT service_name FROM otel.${table}`, { window });
        expect(rows).toEqual([['second']]);
      }
    });

    it('may be open at either end', async () => {
      const sql = 'SELECT name FROM otel.spans ORDER BY time';
      expect((await stage().query(sql, { window: { start: minutes(10) } })).rows).toEqual([['second'], ['third']]);
      expect((await stage().query(sql, { window: { end: minutes(20) } })).rows).toEqual([['first'], ['second']]);
      expect((await stage().query(sql, { window: {} })).rows).toHaveLength(3);
    });

    it('lies beneath every mention of a table: aliases, joins, CTEs, subqueries, unions', async () => {
      const statements = [
        'SELECT count(*) FROM otel.spans AS s',
        'SELECT count(*) FROM otel.spans AS a JOIN otel.logs AS b ON a.service_name = b.service_name',
        'WITH x AS (SELECT * FROM otel.spans) SELECT count(*) FROM x',
        'SELECT count(*) FROM (SELECT * FROM otel.spans) AS x',
        'SELECT count(*) FROM (SELECT name FROM otel.spans UNION SELECT name FROM otel.spans) AS x',
        'SELECT (SELECT count(*) FROM otel.spans) FROM otel.logs',
        'SELECT count(*) FROM otel.logs WHERE service_name IN (SELECT service_name FROM otel.spans)',
      ];
      const possible = statements.filter((sql) => stage().has('logs') || !sql.includes('otel.logs'));
      for (const sql of possible) expect([sql, (await stage().query(sql, { window })).rows]).toEqual([sql, [['1']]]);
    });

    it('is bound anew each time the same checked statement is rendered', async () => {
      const { telemetry, own } = stage();
      const context = contextOf(own);
      const checked = telemetry.check(await telemetry.parse('SELECT count(*) FROM otel.spans', context));
      expect(checked.tables).toEqual(['spans']);
      const counts: unknown[] = [];
      for (const end of [minutes(1), minutes(11), minutes(21)]) {
        const rendered = await telemetry.render(checked, { window: { end } }, context);
        counts.push((await collect(await telemetry.open(rendered, testLimits, context))).rows[0]?.[0]);
      }
      expect(counts).toEqual(['1', '2', '3']);
    });
  });
}
