import { afterAll, describe, expect, it } from '@jest/globals';
import { createTelemetry, newOrganization, ownDatabase } from '../../plugins/telemetry-clickhouse/support/harness.ts';
import { batch, Harness } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { rejection } from '../contract/runner.ts';
import type { TelemetrySink } from '../../src/contract/telemetry/index.ts';
import { copyTelemetry } from '../../src/records/transfer/telemetry/table.ts';
import { sharedServer } from '../support/clickhouse/shared-server.ts';
import { withEngine } from '../support/clickhouse/with-engine.ts';

const never = new AbortController().signal;
const start = Date.parse('2026-03-01T11:59:58Z');

withEngine(() => {
  describe('a copy of telemetry to ClickHouse', () => {
    const server = sharedServer();
    let source: Harness | undefined;
    afterAll(() => source?.stop());

    it('has every row once, also where a batch was there and its position was not', async () => {
      const { telemetry } = (source = await Harness.start());
      const id = newOrganization();
      const rows = Array.from({ length: 45_000 }, (_, index) => ({
        time: BigInt(start) * 1_000n + BigInt(index) * 100n,
        name: `n${index}`,
        attributes: { key: `v${index}` },
      }));
      await telemetry.sink?.load(
        { organizationId: id, log: 'l', batches: [batch('spans', rows)], upTo: { segment: 1, offset: 1 } },
        never,
      );
      const database = await ownDatabase(server());
      const sinks: ReturnType<typeof createTelemetry>[] = [];
      const newSink = (): TelemetrySink => {
        const warehouse = createTelemetry(server().url, { ingest: { database, prefix: '' } });
        sinks.push(warehouse);
        if (warehouse.sink === undefined) throw new Error('no sink');
        return warehouse.sink;
      };
      const copyTo = (target: TelemetrySink) =>
        copyTelemetry({ source: telemetry, target, organization: { id }, logs: [], signal: never });
      const first = newSink();
      let loads = 0;
      await rejection(
        copyTo({
          committed: (organizationId, log) => first.committed(organizationId, log),
          retain: (organizationId, olderThan, signal) => first.retain(organizationId, olderThan, signal),
          async load(load, signal) {
            await first.load(load, signal);
            if ((loads += 1) === 2) throw new Error('cut');
          },
        }),
      );
      // As when the copy was killed between the rows of its second batch and the word of where it is.
      await server().run(`ALTER TABLE ${database}.positions DELETE WHERE log = 'copy-spans' AND batches = 2`, {
        mutations_sync: '1',
      });
      expect(await copyTo(newSink())).toEqual({ spans: 45_000, metrics: 0, logs: 0 });
      const text = await server().run(
        `SELECT count(), uniqExact(name), uniqExact(attributes) FROM ${database}.spans WHERE organization = '${id}'`,
      );
      expect(text.trim()).toBe('45000\t45000\t45000');
      for (const warehouse of sinks) await warehouse.stop();
    }, 120_000);
  });
});
