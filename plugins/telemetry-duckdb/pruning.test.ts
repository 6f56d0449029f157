import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { schemaStatements } from './engine/schema.ts';
import { Harness, newOrganization } from './support/harness.ts';

/** EXPLAIN is refused to callers, so it is asked of an engine of the test's own with the same tables. */
let harness: Harness;
let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  harness = await Harness.start();
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  for (const statement of schemaStatements) await connection.run(statement);
  await connection.run(
    "INSERT INTO otel.spans (time, service_name, trace_id) SELECT TIMESTAMP '2026-01-01' + to_seconds(range), 'cart' || range % 7, 'abc' || range FROM range(9000)",
  );
});
afterAll(async () => {
  connection.closeSync();
  instance.closeSync();
  await harness.stop();
});

it('reach the scan of the table: window, service and trace', async () => {
  const context = { organizationId: newOrganization(), signal: new AbortController().signal };
  const sql = "SELECT max(name) FROM otel.spans WHERE service_name = 'cart1' AND trace_id = 'abc5000'";
  const checked = harness.telemetry.check(await harness.telemetry.parse(sql, context));
  const window = { start: new Date('2026-01-01T01:00:00Z'), end: new Date('2026-01-01T02:00:00Z') };
  const rendered = await harness.telemetry.render(checked, { window }, context);
  const plan = JSON.stringify(await (await connection.run(`EXPLAIN (FORMAT json) ${rendered}`)).getRowsJson());
  const [, filters = ''] = /"Filters\\?":(.*?)Estimated/s.exec(plan) ?? [];
  for (const part of [
    "time>='2026-01-01 01:00",
    "time<'2026-01-01 02:00",
    "service_name='cart1'",
    "trace_id='abc5000'",
  ]) {
    expect(filters).toContain(part);
  }
});
