import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { LogPosition, Telemetry, TelemetrySink } from '../../../src/contract/telemetry/index.ts';
import { batch, type Row } from '../../../test/contract/telemetry-rows.ts';
import { rejection } from '../../../test/contract/runner.ts';
import { CuttingProxy, type Cut } from '../../../test/support/clickhouse/cutting-proxy.ts';
import { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { sharedServer } from '../../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { createTelemetry, newOrganization, ownDatabase } from '../support/harness.ts';

const never = new AbortController().signal;
const time = new Date('2026-03-01T23:59:59Z');

/** A log of ten batches over three tables; some lie on two days, so that they are two partitions. */
const log = Array.from({ length: 10 }, (_, number) => {
  const rows = Array.from({ length: 4 }, (_row, index): Row => ({
    time: new Date(time.getTime() + index * 500),
    name: `n${number}`,
    service_name: 's',
    body: `n${number}`,
    type: 'gauge',
    value: number,
  }));
  return batch((['spans', 'logs', 'metrics'] as const)[number % 3] ?? 'spans', rows);
});
const at = (number: number): LogPosition => ({ segment: 1, offset: number * 100 });

withEngine(() => {
  describe('the sink of ClickHouse', () => {
    const server = sharedServer();
    let database: string;
    let proxy: CuttingProxy;
    const started: Telemetry[] = [];
    beforeAll(async () => {
      database = await ownDatabase(server());
      proxy = await CuttingProxy.start(server().url);
    });
    afterAll(async () => {
      for (const telemetry of started) await telemetry.stop();
      proxy.stop();
    });

    /** A gateway that knows nothing of what another did before it. */
    const gateway = (url = proxy.url): TelemetrySink => {
      const telemetry = createTelemetry(url, { ingest: { database, prefix: '' } });
      started.push(telemetry);
      if (telemetry.sink === undefined) throw new Error('no sink');
      return telemetry.sink;
    };
    const load = async (sink: TelemetrySink, organizationId: OrganizationId, from: number, to: number) =>
      await sink.load({ organizationId, log: 'l', batches: log.slice(from, to), upTo: at(to) }, never);
    /** `n0` four times, `n1` four times, … */
    const found = async (organizationId: OrganizationId) => {
      const columns = { spans: 'name', logs: 'body', metrics: 'name' } as const;
      const all = Object.entries(columns).map(
        ([table, column]) => `SELECT ${column} AS n FROM ${database}.${table} WHERE organization = '${organizationId}'`,
      );
      const text = await server().run(`SELECT n, count() FROM (${all.join(' UNION ALL ')}) GROUP BY n ORDER BY n`);
      return text.trim().split('\n');
    };
    const once = (to: number) => Array.from({ length: to }, (_, number) => `n${number}\t4`);

    const cuts = [0, 1, 2, 3].flatMap((write) =>
      (['request', 'answer'] as const).flatMap((where) =>
        [2, 10].map((next): readonly [number, Cut, number] => [write, where, next]),
      ),
    );
    it.each(cuts)(
      'has each row once when insert %i is lost (%s) and the next gateway begins with %i batches',
      async (write, where, next) => {
        const organization = newOrganization();
        const first = gateway();
        proxy.cutAt(write, where);
        expect(await rejection(load(first, organization, 0, 6))).toMatchObject({ code: 'telemetry_unavailable' });
        expect(proxy.wasCut).toBe(true);
        proxy.heal();
        const second = gateway();
        const begun = Number((await second.committed(organization, 'l'))?.offset ?? 0) / 100;
        expect([0, 6]).toContain(begun);
        if (begun < next) await load(second, organization, begun, next);
        const done = Math.max(begun, next);
        if (done < log.length) await load(second, organization, done, log.length);
        expect(await found(organization)).toEqual(once(log.length));
        expect(await second.committed(organization, 'l')).toEqual(at(log.length));
      },
    );

    it('has each row once when the same gateway tries again with fewer', async () => {
      const organization = newOrganization();
      const sink = gateway();
      await load(sink, organization, 0, 2);
      proxy.cutAt(1, 'answer');
      await rejection(load(sink, organization, 2, 8));
      proxy.heal();
      await load(sink, organization, 2, 3);
      await load(sink, organization, 3, 10);
      expect(await found(organization)).toEqual(once(10));
    });

    it('has each row once where a batch of two days was written by half', async () => {
      const organization = newOrganization();
      await load(gateway(), organization, 0, 4);
      // As when the server died between two partitions of an insert whose position was never written.
      await server().run(`ALTER TABLE ${database}.positions DELETE WHERE organization = '${organization}'`, {
        mutations_sync: '1',
      });
      await server().run(
        `ALTER TABLE ${database}.spans DELETE WHERE organization = '${organization}' AND _batch = 3 AND time >= '2026-03-02'`,
        { mutations_sync: '1' },
      );
      expect(await found(organization)).toContain('n3\t2');
      await load(gateway(), organization, 0, 10);
      expect(await found(organization)).toEqual(once(10));
    });

    it('has each row once when the server is killed under it', async () => {
      const own = await ClickHouseServer.start();
      const { port, directory } = own;
      database = await ownDatabase(own);
      const organization = newOrganization();
      const sink = gateway(own.url);
      const loading = load(sink, organization, 0, 10).catch((error: unknown) => error);
      setTimeout(() => void own.kill(), 15);
      await loading;
      await own.kill();
      const back = await ClickHouseServer.start({ port, directory });
      const begun = Number((await sink.committed(organization, 'l'))?.offset ?? 0) / 100;
      if (begun < 10) await load(sink, organization, begun, 10);
      const text = await back.run(
        `SELECT sum(n), uniqExact(_batch) FROM (SELECT _batch, count() AS n FROM merge('${database}', '^(spans|logs|metrics)$') GROUP BY _batch)`,
      );
      expect(text.trim()).toBe('40\t10');
      await back.stop();
      await own.stop();
    });
  });
});
