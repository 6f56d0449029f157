import { expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import { mappingHelpers } from '../../src/telemetry/mapping/mapping.ts';
import { valueHelpers } from '../../src/telemetry/mapping/propose.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { describeOnEngine } from '../../test/support/clickhouse/with-engine.ts';
import { outcomesOf, window } from '../../test/support/found-layouts/outcomes.ts';
import { ask } from '../telemetry-postgres/support/ask.ts';
import type { Rows } from './quote.ts';
import { inspectWarehouse } from './setup/inspect.ts';
import { foundLayouts, type FoundLayout } from './support/found-layouts.ts';
import { createTelemetry } from './support/harness.ts';

describeOnEngine('a warehouse that no preset knows, mapped as inspect prints it', () => {
  const server = sharedServer();
  const rows: Rows = async (sql) => {
    const answer: { data: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(
      await server().run(sql, { default_format: 'JSON' }),
    );
    return answer.data;
  };

  const fill = async ({ tables, rows: filled }: FoundLayout) => {
    await server().runAll(tables);
    for (const [table, records] of Object.entries(filled)) {
      await server().run(
        `INSERT INTO ${table}${columnsOf(records[0])} FORMAT JSONEachRow ${records.map((record) => JSON.stringify(record)).join('\n')}`,
      );
    }
  };

  it('is told of a mapping by names alone what its values are, how to mend them, and nothing that a sender wrote', async () => {
    const [layout] = foundLayouts;
    if (layout === undefined) throw new Error('no layout');
    await fill(layout);
    const spans = {
      from: 'obs.requests',
      columns: {
        time: 'ts',
        duration_nano: 'duration_ms',
        trace_id: 'trace_id',
        span_id: 'span_id',
        parent_span_id: 'parent_id',
        name: 'operation',
        kind: 'kind',
        status_code: 'status',
        service_name: 'service',
        attributes: 'tags',
      },
    };
    const telemetry = createTelemetry(server().url, {
      ingest: undefined,
      mapping: { tables: { spans } },
      tenancy: { boundary: layout.boundary },
    });
    const notes = (await telemetry.operations?.look?.(AbortSignal.timeout(20_000))) ?? [];
    expect(
      Object.fromEntries(notes.map(({ what, found, mend }) => [what.slice('otel.spans.'.length), mend ?? found])),
    ).toEqual({
      duration_nano: 'toInt64(coalesce(duration_ms, 0) * 1000000)',
      trace_id: 'lower(trace_id)',
      span_id: 'lower(span_id)',
      parent_span_id: 'lower(parent_id)',
      kind: expect.stringContaining("WHEN 'server' THEN 'SERVER'"),
      status_code: expect.stringContaining("THEN 'ERROR'"),
    });
    expect(notes.find(({ what }) => what.endsWith('status_code'))?.found).toBe('words in another form (error, ok)');
    expect(JSON.stringify(notes)).not.toMatch(/GET|example|cart|acme/);
    await server().run('DROP DATABASE obs');
  });

  it('keeps tenants apart by what each table has, where tables differ', async () => {
    await server().runAll([
      'CREATE DATABASE apart',
      'CREATE TABLE apart.traces (ts DateTime64(3), oid String, op String) ENGINE = MergeTree ORDER BY ts',
      'CREATE TABLE apart.lines (ts DateTime64(3), labels String, line String) ENGINE = MergeTree ORDER BY ts',
      "INSERT INTO apart.traces VALUES (now(), 'acme', 'ours'), (now(), 'globex', 'theirs')",
      `INSERT INTO apart.lines VALUES (now(), '{"org":"acme"}', 'ours'), (now(), '{"org":"globex"}', 'theirs')`,
    ]);
    const organization = newId('org');
    const lines = { from: 'apart.lines', columns: { time: 'ts', body: 'line' } };
    const create = (boundary: object, logs: object) =>
      createTelemetry(server().url, {
        ingest: undefined,
        mapping: { tables: { spans: { from: 'apart.traces', columns: { time: 'ts', name: 'op' } }, logs } },
        tenancy: { boundary, value: 'id', organizations: { [organization]: 'acme' } },
        isolation: 'degraded',
        serverBoundary: { by: 'none' },
      });
    const tenant = "JSONExtractString(labels, 'org')";
    const apart = create({ mode: 'column', column: 'oid' }, { ...lines, tenant });
    const none = create({ mode: 'none', organization }, { ...lines, tenant });
    const absent = create({ mode: 'column', column: 'oid' }, lines);
    try {
      await apart.start(AbortSignal.timeout(20_000));
      expect((await ask(apart, organization, 'SELECT name FROM otel.spans')).rows).toEqual([['ours']]);
      expect((await ask(apart, organization, 'SELECT body FROM otel.logs')).rows).toEqual([['ours']]);
      for (const refused of [none, absent]) {
        await expect(refused.start(AbortSignal.timeout(20_000))).rejects.toMatchObject({ code: 'config_invalid' });
      }
    } finally {
      for (const one of [apart, none, absent]) await one.stop();
      await server().run('DROP DATABASE apart');
    }
  });

  it.each(foundLayouts)('$name', async (layout) => {
    const { tables, boundary, tenant = 'acme' } = layout;
    const databases = tables.flatMap((sql) => /^CREATE DATABASE (?:IF NOT EXISTS )?(\w+)/.exec(sql)?.[1] ?? []);
    const organization = newId('org');
    try {
      await fill(layout);
      const { candidates } = await inspectWarehouse(rows, { mapping: mappingHelpers, values: valueHelpers });
      const [best] = candidates;
      const telemetry = createTelemetry(server().url, {
        ingest: undefined,
        mapping: best?.mapping ?? {},
        tenancy: { boundary, value: 'id', organizations: { [organization]: tenant } },
        isolation: 'degraded',
        serverBoundary: { by: 'none' },
      });
      try {
        await telemetry.start(AbortSignal.timeout(20_000));
        const isJson = telemetry.dialect.typeName('map') === 'JSON';
        const inWords = (sql: string) =>
          isJson ? sql.replaceAll("attributes['http.route']", 'attributes.http.route::String') : sql;
        const outcomes = await outcomesOf(
          'clickhouse',
          best,
          async (sql) => (await ask(telemetry, organization, inWords(sql), { window })).rows,
        );
        expect({ preset: best?.preset, ...outcomes }).toEqual({
          preset: 'by hand',
          right: 12,
          told: [],
          wrong: [],
          ...layout.is,
        });
        const empty = telemetry.dialect.tables.flatMap(({ name, columns }) =>
          columns.filter((column) => column.empty === true).map((column) => `otel.${name}.${column.name}`),
        );
        const missing = (best?.missing ?? []).map(({ what }) => what).filter((what) => what.split('.').length > 2);
        expect(empty.toSorted()).toEqual(missing.toSorted());
        // Looked at through what it mends, nothing is left to mend.
        const left = await telemetry.operations?.look?.(AbortSignal.timeout(20_000));
        expect(left?.filter(({ mend }) => mend !== undefined)).toEqual([]);
      } finally {
        await telemetry.stop();
      }
    } finally {
      for (const database of databases) await server().run(`DROP DATABASE IF EXISTS ${database}`);
    }
  });
});

/** Written out where a column is made from one that is not kept. */
function columnsOf(record: object | undefined): string {
  const names = Object.keys(record ?? {});
  return names.some((name) => name.startsWith('_')) ? ` (${names.join(', ')})` : '';
}
