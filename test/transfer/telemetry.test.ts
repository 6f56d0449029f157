import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { batch, Harness, type Row } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { createWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { rejection } from '../contract/runner.ts';
import { newId, type OrganizationId } from '../../src/contract/core/index.ts';
import { otelTables, tableNames, type TelemetrySink } from '../../src/contract/telemetry/index.ts';
import { copyTelemetry } from '../../src/records/transfer/telemetry/table.ts';
import { createKey, main, removeDirectory, sightline, sightlineJson, temporaryDirectory } from '../support/gateway.ts';
import { embeddedServer } from '../support/postgres.ts';

/* What was collected at the embedded start comes along to a company's warehouse: each row once, however often it is begun. */

const never = new AbortController().signal;
const start = Date.parse('2026-03-01T11:59:58Z');

/** Rows of several hours: alone, in crowds of one second larger than a batch, equal to the last cell, and odd. */
function spans(): Row[] {
  const odd: Row = {
    name: 'tab\t "quoted" \u{1F600} 日本',
    trace_id: 'a'.repeat(32),
    attributes: { 'http.route': '/a', 'key "x"': 'ü\n' },
    events: [{ time: '2026-03-01T12:00:00.123456Z', name: 'exception', attributes: { a: 'b' } }],
    links: [{ trace_id: 'b', span_id: 'c', trace_state: '', attributes: {} }],
    duration_nano: '9007199254740993',
  };
  const crowd = Array.from({ length: 45_000 }, (_, index): Row => {
    const time = BigInt(start) * 1_000n + BigInt(index % 900_000) * 7n;
    return { time, start_time: time, end_time: time, name: `crowd ${index}`, service_name: 'crowded' };
  });
  const equal = Array.from({ length: 25 }, (): Row => ({ time: new Date(start + 5_000), name: 'equal' }));
  const later = [1, 3, 50, 51].map((hours): Row => Object.assign({ time: new Date(start + hours * 3_600_000) }, odd));
  return [{ ...odd, time: new Date(0) }, ...crowd, ...equal, ...later];
}

const logs = (): Row[] =>
  Array.from({ length: 300 }, (_, index) => ({
    time: new Date(start + index * 60_000),
    observed_time: new Date(start),
    body: `line ${index}\r\n`,
    severity_number: index % 24,
  }));

const metrics = (): Row[] => [
  { time: new Date(start), name: 'gauge', type: 'gauge', value: 1.5 },
  { time: new Date(start), name: 'nothing', type: 'gauge' },
  {
    time: new Date(start),
    start_time: new Date(start - 1),
    name: 'histogram',
    type: 'histogram',
    count: '3',
    sum: -2.25,
    bucket_counts: '[1,2]',
    explicit_bounds: '[0.5]',
    quantile_values: '[{"quantile":0.5,"value":2.5}]',
  },
];

async function fill(harness: Harness, organizationId: OrganizationId): Promise<void> {
  const all = { spans: spans(), logs: logs(), metrics: metrics() };
  const batches = tableNames.map((table) => batch(table, all[table]));
  await harness.telemetry.sink?.load(
    { organizationId, log: 'log-0123456789ab', batches, upTo: { segment: 3, offset: 9 } },
    never,
  );
}

const large = { limits: { maxRows: 100_000, maxBytes: 200_000_000, maxCellBytes: 1_000_000 } };

/** Every row of every table, in an order of their own. */
async function everything(harness: Harness, organizationId: OrganizationId) {
  const tables = [];
  for (const table of tableNames) {
    const order = otelTables[table].columns.map((_, index) => index + 1).join(', ');
    const { rows } = await harness.query(organizationId, `SELECT * FROM otel.${table} ORDER BY ${order}`, large);
    tables.push(rows);
  }
  return tables;
}

const sinkOf = ({ telemetry }: { readonly telemetry: { readonly sink?: TelemetrySink } }): TelemetrySink => {
  if (telemetry.sink === undefined) throw new Error('no sink');
  return telemetry.sink;
};

describe('a copy of telemetry', () => {
  let source: Harness;
  const id = newId('org');
  const stranger = newId('org');
  const copyTo = (target: TelemetrySink, onProgress?: (table: string, fraction: number) => void) =>
    copyTelemetry({
      source: source.telemetry,
      target,
      organization: { id },
      logs: ['log-0123456789ab', 'log-000000000000'],
      signal: never,
      ...(onProgress && { onProgress }),
    });
  beforeAll(async () => {
    source = await Harness.start();
    await fill(source, id);
    await fill(source, stranger);
  });
  afterAll(() => source.stop());

  it("has every row once, cell by cell, and no other organization's", async () => {
    const target = await Harness.start();
    const fractions: number[] = [];
    expect(await copyTo(sinkOf(target), (_table, fraction) => fractions.push(fraction))).toEqual({
      spans: 45_030,
      metrics: 3,
      logs: 300,
    });
    expect(await everything(target, id)).toEqual(await everything(source, id));
    expect((await everything(target, stranger)).flat()).toEqual([]);
    expect(Math.max(...fractions)).toBe(1);
    expect(fractions.every((fraction) => fraction >= 0 && fraction <= 1)).toBe(true);
    await target.stop();
  });

  it('copies nothing again when it is run again', async () => {
    const target = await Harness.start();
    const first = await copyTo(sinkOf(target));
    expect(await copyTo(sinkOf(target))).toEqual(first);
    expect(await everything(target, id)).toEqual(await everything(source, id));
    await target.stop();
  });

  it('goes on where it was broken off, before or after a batch was taken', async () => {
    const target = await Harness.start();
    const sink = sinkOf(target);
    const breaking = (after: number, taken: boolean): TelemetrySink => {
      let loads = 0;
      return {
        committed: (organizationId, log) => sink.committed(organizationId, log),
        retain: (organizationId, olderThan, signal) => sink.retain(organizationId, olderThan, signal),
        async load(load, signal) {
          loads += 1;
          if (loads > after && !taken) throw new Error('cut');
          await sink.load(load, signal);
          if (loads > after) throw new Error('cut');
        },
      };
    };
    for (const [after, taken] of [
      [1, false],
      [2, true],
      [1, true],
      [2, false],
    ] as const) {
      await rejection(copyTo(breaking(after, taken)));
    }
    await copyTo(sink);
    expect(await everything(target, id)).toEqual(await everything(source, id));
    await target.stop();
  });

  it('tells the target how far the ingest log was loaded, so that the next gateway goes on there', async () => {
    const target = await Harness.start();
    await copyTo(sinkOf(target));
    expect(await sinkOf(target).committed(id, 'log-0123456789ab')).toEqual({ segment: 3, offset: 9 });
    expect(await sinkOf(target).committed(id, 'log-000000000000')).toBeUndefined();
    await target.stop();
  });

  it('arrives in PostgreSQL', async () => {
    const server = await embeddedServer();
    const warehouse = await createWarehouse(server);
    const [organizationId] = warehouse.organizations;
    try {
      await fill(source, organizationId);
      await warehouse.component.start(AbortSignal.timeout(30_000));
      const target = sinkOf({ telemetry: warehouse.component });
      const copy = { source: source.telemetry, target, organization: { id: organizationId }, logs: [], signal: never };
      const rows = await copyTelemetry(copy);
      expect(await copyTelemetry(copy)).toEqual(rows);
      const counted = await server.admin(
        `SELECT (SELECT count(*) FROM telemetry.spans), (SELECT count(DISTINCT name) FROM telemetry.spans), (SELECT count(*) FROM telemetry.metrics), (SELECT count(*) FROM telemetry.logs), (SELECT max(duration_nano) FROM telemetry.spans)`,
        warehouse.database,
      );
      expect(counted[0]?.map(String)).toEqual(['45030', '45002', '3', '300', '9007199254740993']);
    } finally {
      await warehouse.component.stop();
      await warehouse.cleanup();
      await server.stop();
    }
  }, 120_000);
});

describe('sightline telemetry copy', () => {
  const copied = z.object({ organizations: z.array(z.object({ rows: z.record(z.string(), z.number()) })) });
  const organizations = z.array(z.object({ id: z.string(), name: z.string() }));

  it('goes on after kill -9, and says what there is', async () => {
    const [from, to] = [await temporaryDirectory(), await temporaryDirectory()];
    try {
      await createKey(to, 'acme');
      const [acme] = await sightlineJson(to, ['org', 'list'], organizations);
      const id = acme?.id;
      if (id === undefined || !isOrganization(id)) throw new Error('no organization');
      const before = await Harness.start({}, from);
      await fill(before, id);
      const expected = await everything(before, id);
      await before.telemetry.stop();
      for (const delay of [700, 1_100, 1_500]) {
        const args = [main, 'telemetry', 'copy', '--from', from, '--data', to];
        const child = spawn(process.execPath, args, { stdio: 'ignore' });
        const exited = once(child, 'exit');
        await sleep(delay);
        child.kill('SIGKILL');
        await exited;
      }
      const { organizations: done } = await sightlineJson(to, ['telemetry', 'copy', '--from', from], copied);
      expect(done).toEqual([{ rows: { spans: 45_030, metrics: 3, logs: 300 } }]);
      const after = await Harness.start({}, to);
      expect(await everything(after, id)).toEqual(expected);
      await after.telemetry.stop();
    } finally {
      await removeDirectory(from);
      await removeDirectory(to);
    }
  }, 120_000);

  it('copies what a deleted organization has that can be restored', async () => {
    const [from, to] = [await temporaryDirectory(), await temporaryDirectory()];
    try {
      for (const name of ['acme', 'gone']) await sightline(to, ['org', 'create', name]);
      const before = await Harness.start({}, from);
      const ids = (await sightlineJson(to, ['org', 'list'], organizations)).map(({ id }) => id);
      for (const id of ids.filter(isOrganization)) {
        const batches = [batch('logs', logs())];
        await before.telemetry.sink?.load(
          { organizationId: id, log: 'log-0123456789ab', batches, upTo: { segment: 1, offset: 1 } },
          never,
        );
      }
      await before.telemetry.stop();
      await sightline(to, ['org', 'delete', 'gone', '--yes']);
      const { organizations: done } = await sightlineJson(to, ['telemetry', 'copy', '--from', from], copied);
      const rows = { spans: 0, metrics: 0, logs: 300 };
      expect(done).toEqual([{ rows }, { rows }]);
    } finally {
      await removeDirectory(from);
      await removeDirectory(to);
    }
  });

  it('says in a sentence what is wrong with a warehouse that is not set up', async () => {
    const server = await embeddedServer();
    const warehouse = await createWarehouse(server);
    const data = await temporaryDirectory();
    const config = join(data, 'sightline.json');
    const url = server.url(warehouse.database, 'nobody_is_called_so', 'x');
    await writeFile(
      config,
      JSON.stringify({ dataDirectory: data, telemetry: { ...warehouse.config, plugin: 'postgres', url } }),
    );
    try {
      const { stderr } = await sightline(data, ['telemetry', 'copy', '--config', config]);
      expect(stderr).toMatch(/^error: The warehouse .*cannot be used/);
      expect(stderr).not.toMatch(/unexpected|\n\s+at /);
    } finally {
      await warehouse.cleanup();
      await server.stop();
      await removeDirectory(data);
    }
  });

  it('is refused onto itself, and from a place without telemetry', async () => {
    const data = await temporaryDirectory();
    await createKey(data, 'acme');
    const itself = await sightline(data, ['telemetry', 'copy']);
    expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining('this very data directory')]);
    await mkdir(join(data, 'empty'));
    const empty = await sightline(data, ['telemetry', 'copy', '--from', join(data, 'empty')]);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('no telemetry')]);
    await removeDirectory(data);
  });
});

function isOrganization(id: string): id is OrganizationId {
  return id.startsWith('org_');
}
