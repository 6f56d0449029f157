import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mappingHelpers } from '../../../src/telemetry/mapping/mapping.ts';
import { valueHelpers } from '../../../src/telemetry/mapping/propose.ts';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { openEngine, remove, type Engine } from '../support/layouts/engine.ts';
import { layouts } from '../support/layouts/index.ts';
import { mapped } from '../support/layouts/mapped.ts';
import { inspectWarehouse } from './inspect.ts';

describeOnEngine('a look at a warehouse', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await openEngine();
  });
  afterEach(async () => {
    await engine[Symbol.asyncDispose]();
    remove(engine.directory);
  });
  const create = async (statements: readonly string[]) => {
    for (const sql of statements) await engine.rows(sql);
  };
  const look = () => inspectWarehouse(engine.rows, { mapping: mappingHelpers, values: valueHelpers });

  it('names for each layout the preset that fits, as a config that can be used as it is', async () => {
    for (const { tables } of layouts) await create(tables);
    const { server, candidates } = await look();
    expect(server).toMatch(/^ClickHouse \d+\.\d+/);
    const looked = candidates.map(({ preset, mapping }) => ({ preset, mapping }));
    for (const { preset, names } of layouts) {
      expect(looked).toContainEqual({
        preset,
        mapping: expect.objectContaining({
          preset,
          ...(Object.keys(names).length === 0 ? {} : { names: expect.objectContaining(names) }),
        }),
      });
    }
    for (const { mapping, found } of candidates) {
      const { relation } = await mapped(engine.rows, mapping);
      for (const table of ['spans', 'metrics', 'logs'] as const) {
        expect(found).toHaveProperty(table);
        await engine.rows(`SELECT count() FROM ${relation(table)}`);
      }
    }
  });

  it('finds the tables of the Collector under other names, and says what is missing', async () => {
    const [layout] = layouts;
    const renamed = (layout?.tables ?? [])
      .filter((sql) => !sql.includes('otel_metrics_'))
      .map((sql) =>
        sql
          .replaceAll('collector_old', 'telemetry')
          .replaceAll('otel_traces', 'spans_raw')
          .replace('otel_logs', 'app_logs'),
      );
    await create(renamed);
    const { candidates } = await look();
    expect(candidates).toHaveLength(1);
    expect(candidates[0]).toMatchObject({
      preset: 'otel-collector',
      mapping: { names: { database: 'telemetry', traces: 'spans_raw', logs: 'app_logs' } },
      found: { spans: '`telemetry`.`spans_raw`', logs: '`telemetry`.`app_logs`' },
    });
    expect(candidates[0]?.missing).toEqual(
      expect.arrayContaining([
        { what: 'otel.metrics', instead: expect.stringContaining('none') },
        { what: 'otel.logs.event_name', instead: "''" },
        { what: 'otel.spans.flags', instead: '0' },
      ]),
    );
  });

  it('starts a mapping by hand for a layout that it does not know', async () => {
    await create([
      'CREATE DATABASE obs',
      `CREATE TABLE obs.requests (ts DateTime64(6), trace_id String, span_id String, parent_id String, operation String, service String,
         duration_ns UInt64, tags Map(String, String), tenant_id String) ENGINE = MergeTree ORDER BY ts`,
      'CREATE TABLE obs.messages (time DateTime, level LowCardinality(String), `log message` String, message String, app String) ENGINE = MergeTree ORDER BY time',
      'CREATE TABLE obs.orders (id UInt64, created_at DateTime, total Float64) ENGINE = MergeTree ORDER BY id',
    ]);
    const { candidates } = await look();
    expect(candidates).toHaveLength(1);
    const [byHand] = candidates;
    expect(byHand?.mapping).toEqual({
      tables: {
        spans: {
          from: '`obs`.`requests`',
          columns: {
            time: 'ts',
            duration_nano: 'duration_ns',
            end_time: 'addNanoseconds(toDateTime64(ts, 9), duration_ns)',
            trace_id: 'trace_id',
            span_id: 'span_id',
            parent_span_id: 'parent_id',
            name: 'operation',
            service_name: 'service',
            attributes: 'tags',
          },
        },
        logs: {
          from: '`obs`.`messages`',
          columns: {
            time: 'time',
            severity_text: 'level',
            severity_number: expect.stringContaining('CASE lower(level) WHEN'),
            body: 'message',
            service_name: 'app',
          },
        },
      },
    });
    const { relation } = await mapped(engine.rows, byHand?.mapping, {
      mode: 'column',
      column: 'tenant_id',
      type: 'string',
    });
    await engine.rows(`SELECT * FROM ${relation('spans')}`);
  });

  it('finds nothing where there is nothing', async () => {
    await create(['CREATE TABLE orders (id UInt64, total Float64) ENGINE = MergeTree ORDER BY id']);
    expect((await look()).candidates).toEqual([]);
  });
});
