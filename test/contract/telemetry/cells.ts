import type { Runner } from '../runner.ts';
import { minutes, row, type Stage } from './stage.ts';

/** How values are written into cells, whatever the engine calls its types. */
export function cellPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('cells', () => {
    const before = { start: minutes(-130), end: minutes(-110) };
    const other = async (sql: string) => (await stage().query(sql, { as: stage().other, window: before })).rows;

    it('are text where JavaScript would round an integer', async () => {
      const exact = ['9007199254740993', '-9007199254740993', '9223372036854775807', '0'];
      await stage().write(
        stage().other,
        'spans',
        exact.map((duration_nano, index) => ({ ...row(-120 + index, 'cells'), duration_nano })),
      );
      expect(await other('SELECT duration_nano FROM otel.spans ORDER BY time')).toEqual(exact.map((value) => [value]));
      expect(await other('SELECT count(*) AS n FROM otel.spans')).toEqual([['4']]);
    });

    it('are numbers where a double is one, and text where JSON has none', async () => {
      const values = [0.1, 1e300, -2.5, ...(stage().telemetry.sink ? [Number.NaN, Infinity, -Infinity] : [])];
      await stage().write(
        stage().other,
        'metrics',
        values.map((value, index) => ({ ...row(-120 + index, 'cells'), type: 'gauge', value })),
      );
      const expected = values.map((value) => [Number.isFinite(value) ? value : String(value)]);
      expect(await other('SELECT value FROM otel.metrics ORDER BY time')).toEqual(expected);
    });

    it('are RFC 3339 in UTC for times, and null for what is absent', async () => {
      const [cells] = await other('SELECT time, start_time, min FROM otel.metrics ORDER BY time LIMIT 1');
      expect(cells).toEqual(['2026-03-01T10:00:00.123Z', '2026-03-01T10:00:00.123Z', null]);
    });
  });
}
