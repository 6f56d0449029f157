import { SightlineError } from '../../../src/contract/core/index.ts';
import { rejection, type Runner } from '../runner.ts';
import { batch } from '../telemetry-rows.ts';
import { minutes, row, type Stage } from './stage.ts';

/** Where the receiver’s rows go, if they go here. */
export function sinkPromises({ describe, it, expect }: Runner, stage: () => Stage): void {
  describe('the sink', () => {
    const load = async (offsetAt: number, name: string) =>
      await stage().telemetry.sink?.load(
        {
          organizationId: stage().other,
          log: 'once',
          batches: [batch('logs', [{ ...row(100, name), body: name }])],
          upTo: { segment: 3, offset: offsetAt },
        },
        new AbortController().signal,
      );
    const bodies = async () =>
      (
        await stage().query("SELECT body FROM otel.logs WHERE service_name LIKE 'once%' ORDER BY body", {
          as: stage().other,
        })
      ).rows;

    it('loads each position once', async () => {
      const { other, telemetry } = stage();
      const { sink } = telemetry;
      if (!sink) return;
      expect(await sink.committed(other, 'once')).toBeUndefined();
      await load(10, 'once-a');
      await load(10, 'once-b');
      await load(4, 'once-c');
      await load(20, 'once-d');
      expect(await bodies()).toEqual([['once-a'], ['once-d']]);
      expect(await sink.committed(other, 'once')).toEqual({ segment: 3, offset: 20 });
      expect(await sink.committed(other, 'another')).toBeUndefined();
      expect(await sink.committed(stage().own, 'once')).toBeUndefined();
    });

    it('loads nothing of a load that it cannot read', async () => {
      const { other, telemetry } = stage();
      const { sink } = telemetry;
      if (!sink) return;
      const broken = {
        organizationId: stage().other,
        log: 'broken',
        batches: [batch('logs', [row(100, 'once-broken')]), new Uint8Array([1, 2, 3])],
        upTo: { segment: 1, offset: 1 },
      };
      expect(await rejection(sink.load(broken, new AbortController().signal))).toBeInstanceOf(SightlineError);
      expect(await sink.committed(other, 'broken')).toBeUndefined();
      expect(await bodies()).toHaveLength(2);
    });

    it('takes what senders write into attributes, whatever it is', async () => {
      if (!stage().telemetry.sink) return;
      const attributes = {
        '': 'empty key',
        nul: 'a\0b',
        lone: '\ud800',
        quote: '"\\\'',
        __proto__: 'x',
        emoji: '😀',
      };
      await stage().write(stage().other, 'spans', [
        { ...row(200, 'odd'), attributes },
        { ...row(200, 'odd'), attributes: '{"a":"1","a":"2"}' },
      ]);
      const { rows } = await stage().query("SELECT attributes FROM otel.spans WHERE name = 'odd'", {
        as: stage().other,
      });
      expect(rows).toHaveLength(2);
      expect(JSON.stringify(rows)).toContain('😀');
    });

    it('deletes what is older, and nothing else', async () => {
      const { other, telemetry } = stage();
      const { sink } = telemetry;
      if (!sink) return;
      await stage().write(stage().other, 'metrics', [row(-60, 'old')]);
      const { signal } = new AbortController();
      const newest = await sink.newest?.(other, signal);
      expect((await sink.newest?.(stage().own, signal))?.getTime() ?? 0).not.toBe(newest?.getTime());
      expect(newest?.getTime() ?? Infinity).toBeGreaterThan(minutes(0).getTime());
      expect((await sink.retain(other, minutes(0), signal)) ?? 1).toBeGreaterThan(0);
      expect((await sink.retain(other, minutes(0), signal)) ?? 0).toBe(0);
      const { rows } = await stage().query('SELECT service_name FROM otel.metrics', { as: stage().other });
      expect(rows).toEqual([['foreign']]);
    });
  });
}
