import { rejection, type Runner } from '../runner.ts';
import type { Stage } from './stage.ts';
import { contextOf, testLimits, type AskOptions } from './warehouse.ts';

/** More than any pool of connections has. */
const many = 24;

/** How much comes back, how long it takes, and what is left behind. */
export function limitPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  /** A cursor over 100,000 rows. */
  const openMany = async (options: Pick<AskOptions, 'signal'> = {}) => {
    const { telemetry, own, subject } = stage();
    const context = contextOf(own, options);
    const checked = telemetry.check(await telemetry.parse(subject.sql.manyRows, context));
    const rendered = await telemetry.render(checked, {}, context);
    return await telemetry.open(rendered, { ...testLimits, maxRows: 100_000, maxBytes: 10_000_000 }, context);
  };
  const expectWell = async () =>
    expect((await stage().query('SELECT count(*) AS n FROM otel.spans')).rows).toEqual([['3']]);

  describe('limits', () => {
    it('end a result at so many rows, and say so', async () => {
      const cut = await stage().query(stage().subject.sql.manyRows, { limits: { maxRows: 7 } });
      expect([cut.rows.length, cut.truncated]).toEqual([7, 'rows']);
      const whole = await stage().query('SELECT name FROM otel.spans', { limits: { maxRows: 3 } });
      expect([whole.rows.length, whole.truncated]).toEqual([3, undefined]);
    });

    it('end a result at so many bytes, and say so', async () => {
      const limits = { maxRows: 100_000, maxBytes: 5_000 };
      const cut = await stage().query(stage().subject.sql.manyRows, { limits });
      expect(cut.truncated).toBe('bytes');
      expect(cut.bytes).toBeLessThanOrEqual(5_000);
      expect(cut.rows.length).toBeGreaterThan(100);
    });

    it('cut a long cell to valid JSON, and count it', async () => {
      const cut = await stage().query(stage().subject.sql.longText, { limits: { maxCellBytes: 1_000 } });
      expect(cut.cutCells).toBe(1);
      expect(Buffer.byteLength(JSON.stringify(cut.rows[0]?.[0]))).toBeLessThanOrEqual(1_000);
      expect(cut.bytes).toBeLessThanOrEqual(1_010);
      expect(String(cut.rows[0]?.[0])).toMatch(/bytes cut/);
    });

    it('stop a query that takes too long', async () => {
      const error = await stage().refusal(stage().subject.sql.slow, { limits: { timeoutMs: 300 } });
      expect(error).toMatchObject({ code: 'query_timeout' });
      await expectWell();
    });
  });

  describe('a caller who leaves', () => {
    it('stops the query', async () => {
      const controller = new AbortController();
      const running = stage().refusal(stage().subject.sql.slow, { signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      expect(await running).toMatchObject({ code: 'query_cancelled' });
      await expectWell();
    });

    it('has nothing run that was asked for afterwards', async () => {
      const signal = AbortSignal.abort();
      expect(await stage().refusal('SELECT 1 AS x', { signal })).toMatchObject({ code: 'query_cancelled' });
      const { telemetry, own } = stage();
      const context = contextOf(own);
      const checked = telemetry.check(await telemetry.parse(stage().subject.sql.slow, context));
      const rendered = await telemetry.render(checked, {}, context);
      expect(await rejection(telemetry.open(rendered, testLimits, contextOf(own, { signal })))).toMatchObject({
        code: 'query_cancelled',
      });
    });

    it('may do so in the middle of a result', async () => {
      const controller = new AbortController();
      const cursor = await openMany({ signal: controller.signal });
      await cursor.read();
      controller.abort();
      const rest = async () => {
        while (await cursor.read());
      };
      // What had come by then may still be read.
      await rest().catch((error: unknown) => expect(error).toMatchObject({ code: 'query_cancelled' }));
      await cursor.close();
      await expectWell();
    });
  });

  describe('a result that is left', () => {
    it('is not waited for', async () => {
      const cursor = await openMany();
      await cursor.close();
      await cursor.close();
    });

    it('leaves nothing open, however many are', async () => {
      for (let time = 0; time < many; time += 1) {
        const cursor = await openMany();
        await cursor.read();
        await cursor.close();
      }
      await expectWell();
    });

    it('holds nobody up who asks at the same time', async () => {
      const cursor = await openMany();
      await cursor.read();
      await expectWell();
      await cursor.close();
    });
  });
}
