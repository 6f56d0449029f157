import type { Runner } from '../runner.ts';
import type { Stage } from './stage.ts';
import { contextOf, renderedOf } from './warehouse.ts';

const hostile = [
  '*/ SELECT 1 --',
  "'; DROP TABLE otel.spans; --",
  '/* /* nested',
  '\\',
  '"quoted"',
  'line\nbreak\r\n',
  '\0',
  '\ud800',
  '😀'.repeat(2_000),
  '%27%2A%2F',
  '',
];

/** Who asks, told to the warehouse; and what a statement would read, asked of it. */
export function labelPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('a label', () => {
    it('may be any text, and changes nothing of the answer', async () => {
      for (const text of hostile) {
        const label = { principal: text, tool: text, traceId: text };
        const { rows } = await stage().query('SELECT name FROM otel.spans ORDER BY time', { label });
        expect([text, rows]).toEqual([text, [['first'], ['second'], ['third']]]);
      }
    });

    it('leaves the position of a mistake where it is', async () => {
      const label = { principal: 'usr_1', tool: 'query_otel', traceId: 'abc' };
      expect(await stage().refusal('SELECT * FROM otel.traces', { label })).toMatchObject({ code: 'unknown_table' });
      expect(await stage().refusal('SELEC 1', { label })).toMatchObject({ code: 'sql_syntax' });
    });
  });

  describe('an estimate', () => {
    it('says what would be read, and reads nothing', async () => {
      const { telemetry, own } = stage();
      if (!telemetry.estimate) return;
      const context = contextOf(own);
      const cheap = await renderedOf(telemetry, 'SELECT name FROM otel.spans', context);
      const { bytes, rows } = await telemetry.estimate(cheap, context);
      expect(bytes).toBeGreaterThanOrEqual(0);
      expect(rows ?? 0).toBeGreaterThanOrEqual(0);
      const slow = await renderedOf(telemetry, stage().subject.sql.slow, context);
      const heavy = await telemetry.estimate(slow, context);
      expect(Number.isFinite(heavy.bytes)).toBe(true);
    });
  });
}
