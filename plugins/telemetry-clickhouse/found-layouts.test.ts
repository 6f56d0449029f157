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
import { foundLayouts } from './support/found-layouts.ts';
import { createTelemetry } from './support/harness.ts';

describeOnEngine('a warehouse that no preset knows, mapped as inspect prints it', () => {
  const server = sharedServer();
  const rows: Rows = async (sql) => {
    const answer: { data: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(
      await server().run(sql, { default_format: 'JSON' }),
    );
    return answer.data;
  };

  it.each(foundLayouts)('$name', async ({ tables, rows: filled, boundary, tenant = 'acme', ...layout }) => {
    const databases = tables.flatMap((sql) => /^CREATE DATABASE (?:IF NOT EXISTS )?(\w+)/.exec(sql)?.[1] ?? []);
    const organization = newId('org');
    try {
      await server().runAll(tables);
      for (const [table, records] of Object.entries(filled)) {
        await server().run(
          `INSERT INTO ${table}${columnsOf(records[0])} FORMAT JSONEachRow ${records.map((record) => JSON.stringify(record)).join('\n')}`,
        );
      }
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
