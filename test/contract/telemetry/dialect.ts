import type { Runner } from '../runner.ts';
import { minutes, row, type Stage } from './stage.ts';

/** How the warehouse is written to and asked. */
export function dialectPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('the dialect', () => {
    it('names its tables, column types and some functions', () => {
      const { dialect } = stage().telemetry;
      expect(dialect.tables.map((table) => table.name)).toContain('spans');
      for (const table of dialect.tables) {
        for (const column of table.columns) expect(dialect.typeName(column.type).length).toBeGreaterThan(0);
      }
      expect(dialect.functions.length).toBeGreaterThan(50);
      expect(dialect.version.length).toBeGreaterThan(0);
    });

    it('has examples that run', async () => {
      expect(stage().telemetry.dialect.examples.length).toBeGreaterThanOrEqual(6);
      for (const { sql } of stage().telemetry.dialect.examples)
        expect((await stage().query(sql)).columns.length).toBeGreaterThan(0);
    });

    it('writes SQL that means what it should', async () => {
      const { write: w } = stage().telemetry.dialect;
      const one = async (expression: string, from = '') =>
        (await stage().query(`SELECT ${expression} AS x ${from}`)).rows[0]?.[0];
      const spans = 'FROM otel.spans';
      expect(await one(w.literal('it\'s \\ "quoted" \n 😀'))).toBe('it\'s \\ "quoted" \n 😀');
      expect(await one(`count(*)`, `${spans} WHERE time = ${w.literal(minutes(10))}`)).toBe('1');
      expect(await one('count(*)', `${spans} WHERE ${w.literal(true)}`)).toBe('3');
      expect(Number(await one(`${w.literal(-1.5)} + ${w.literal(2)}`))).toBe(0.5);
      expect(await one(w.attribute('attributes', "o'clock"), `${spans} WHERE name = 'first'`)).toBe('yes');
      expect(
        await one(
          'count(*)',
          `${spans} WHERE ${w.bucket('time', 300)} = ${w.literal(new Date('2026-03-01T12:10:00Z'))}`,
        ),
      ).toBe('1');
      expect(Number(await one(w.quantile('duration_nano', 0.5), spans))).toBe(1_500_000);
      expect(await one(w.countIf("name = 'first'"), spans)).toBe('1');
      expect(Number(await one(w.ratio(w.countIf("name = 'first'"), 'count(*)'), spans))).toBeGreaterThan(0.33);
      expect(await one(w.ratio('1', '0'))).toBe(null);
      expect(await one(w.replaceRegexp("'a1b22'", '[0-9]+', '#'))).toBe('a#b#');
      const entries = await stage().query(
        `SELECT a.key, a.value FROM otel.spans AS s, ${w.unnestMap('s.attributes', 'a')} WHERE s.name = 'first' ORDER BY a.key`,
      );
      expect(entries.rows).toEqual([
        ['http.route', '/cart'],
        ["o'clock", 'yes'],
      ]);
    });

    it('finds the exception among the events of a span', async () => {
      if (!stage().has('spans', 'events')) return;
      const time = minutes(0).toISOString();
      const event = (name: string, attributes: object) => ({ time, name, attributes });
      const whole = { 'exception.type': 'E', 'exception.message': 'it broke 12 times' };
      const events = {
        none: [],
        other: [event('retry', whole)],
        whole: [event('retry', {}), event('exception', whole), event('exception', { 'exception.type': 'Later' })],
        message: [event('exception', { 'exception.message': 'it broke' })],
      };
      await stage().write(
        stage().other,
        'spans',
        Object.entries(events).map(([name, list]) => Object.assign(row(-85, `exception-${name}`), { events: list })),
      );
      const { write } = stage().telemetry.dialect;
      // As the agent asks for it.
      const text = `COALESCE(NULLIF(status_message, ''), ${write.exception('events')}, '')`;
      const said = write.replaceRegexp(`substr(${text}, 1, 40)`, '[0-9]+', '#');
      const { rows } = await stage().query(
        `SELECT name, ${said} AS said FROM otel.spans WHERE name LIKE 'exception-%' ORDER BY name`,
        { as: stage().other },
      );
      expect(rows).toEqual([
        ['exception-message', 'it broke'],
        ['exception-none', ''],
        ['exception-other', ''],
        ['exception-whole', 'E: it broke # times'],
      ]);
    });
  });
}
