import type { TimeReach } from '../../../src/contract/telemetry/index.ts';
import type { Runner } from '../runner.ts';
import { minutes, type Stage } from './stage.ts';
import { contextOf } from './warehouse.ts';

/** What a statement's own predicates on `time` leave of the tables it reads. */
export function reachPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  const checkedOf = async (sql: string) => {
    const { telemetry, own } = stage();
    return telemetry.check(await telemetry.parse(sql, contextOf(own)));
  };

  describe('the reach of a statement in time', () => {
    it('is known of each place that reads a table', async () => {
      const statements: readonly (readonly [string, number])[] = [
        ['SELECT 1 AS x', 0],
        ['SELECT name FROM otel.spans', 1],
        ['SELECT a.name FROM otel.spans AS a JOIN otel.spans AS b ON a.trace_id = b.trace_id', 2],
        ['WITH x AS (SELECT name FROM otel.spans) SELECT name FROM x', 1],
        ['SELECT name FROM otel.spans UNION ALL SELECT name FROM (SELECT name FROM otel.spans) AS y', 2],
      ];
      for (const [sql, places] of statements) {
        expect([sql, (await checkedOf(sql)).reaches]).toEqual([sql, Array.from({ length: places }, () => ({}))]);
      }
    });

    it('is what the dialect’s own ways of writing it say', async () => {
      const { bounded } = stage().subject.sql;
      expect(bounded.length).toBeGreaterThan(0);
      for (const { sql, reaches } of bounded) expect([sql, (await checkedOf(sql)).reaches]).toEqual([sql, reaches]);
    });

    it('is never narrower than the rows that the statement finds', async () => {
      const { write } = stage().telemetry.dialect;
      const at = (minute: number) => write.literal(minutes(minute));
      const predicates = [
        `time >= ${at(10)}`,
        `time > ${at(0)} AND time <= ${at(20)}`,
        `time = ${at(10)}`,
        `${at(10)} >= time`,
        `time BETWEEN ${at(0)} AND ${at(10)}`,
        `time >= ${at(20)} OR name = 'first'`,
        `NOT (time >= ${at(20)} AND name = 'third')`,
        `NOT (time < ${at(10)})`,
        `time <> ${at(20)}`,
        `time >= ${at(10)} OR time < ${at(1)}`,
        `CASE WHEN time >= ${at(10)} THEN 1 ELSE 1 END = 1`,
        `(time >= ${at(20)}) = (name = 'third')`,
        `start_time >= ${at(10)}`,
        `time >= ${at(0)} AND (time >= ${at(10)} OR name = 'first')`,
      ];
      let bounded = 0;
      for (const predicate of predicates) {
        const sql = `SELECT time FROM otel.spans WHERE ${predicate}`;
        const [reach = {}] = (await checkedOf(sql)).reaches;
        if (reach.start ?? reach.end) bounded += 1;
        const { rows } = await stage().query(sql);
        expect([sql, rows.length > 0]).toEqual([sql, true]);
        for (const [found] of rows)
          expect([sql, found, holds(reach, new Date(String(found)))]).toEqual([sql, found, true]);
      }
      // Plain comparisons with constants are understood everywhere: without them every query would get the default window.
      expect(bounded).toBeGreaterThanOrEqual(5);
    });
  });
}

/** For reaches of absolute times. */
function holds({ start, end }: TimeReach, time: Date): boolean {
  if (start && (!('at' in start) || time < start.at)) return false;
  return !end || ('at' in end && time < end.at);
}
