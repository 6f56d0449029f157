import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withheld } from '../../test/contract/isolation-rows.ts';
import { everyWay, withCause, withheldOf } from '../../test/contract/telemetry/ruled.ts';
import { writeRows } from '../../test/contract/telemetry/warehouse.ts';
import { everyPostgresServer } from '../../test/support/postgres.ts';
import { oracles } from './support/attacks-oracles.ts';
import { legitimate } from './support/legitimate.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const secret = withheld(new Date());
const servers = await everyPostgresServer();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

/** Ways around a rule that a person would try. */
const detours: readonly string[] = [
  'SELECT s FROM otel.spans s',
  'SELECT s::text FROM otel.spans s',
  'SELECT to_json(s), to_jsonb(s), row_to_json(s) FROM otel.spans s',
  'SELECT row(s.*) FROM otel.spans s',
  'SELECT (s).name FROM otel.spans s',
  'SELECT (row(s.*)).f10 FROM otel.spans s',
  'SELECT json_agg(s), array_agg(s), string_agg(s::text, $$,$$) FROM otel.spans s',
  'SELECT hash_record(s), md5(s::text) FROM otel.spans s',
  'SELECT otel.spans.name FROM otel.spans',
  'SELECT * FROM otel.spans s(a, b, c, d, e, f, g, h, i, j, k)',
  'SELECT * FROM otel.spans NATURAL JOIN otel.logs',
  'SELECT * FROM otel.spans JOIN otel.logs USING (trace_id, service_name)',
  'SELECT x.* FROM otel.spans s, LATERAL (SELECT s.*) x',
  'SELECT x FROM otel.spans s, LATERAL jsonb_each_text(to_jsonb(s)) x',
  'SELECT x FROM otel.spans s, LATERAL jsonb_each(s.attributes) x',
  'SELECT x FROM otel.spans s, LATERAL jsonb_array_elements(s.events) x',
  "SELECT jsonb_path_query(attributes, '$.*'), jsonb_path_query(events, '$[*].attributes.*') FROM otel.spans",
  "SELECT attributes || resource_attributes, attributes - 'a', attributes::text FROM otel.spans",
  'SELECT first_value(s) OVER (), lag(name) OVER (ORDER BY time) FROM otel.spans s',
  'SELECT min(name), max(name), mode() WITHIN GROUP (ORDER BY name) FROM otel.spans',
  'SELECT name::int FROM otel.spans',
  'SELECT count(*) FROM otel.spans GROUP BY name::int',
  'SELECT 1 FROM otel.spans ORDER BY name::int',
  "SELECT (attributes ->> 'secret')::int FROM otel.spans",
  'SELECT ctid, tableoid, xmin FROM otel.spans',
  'SELECT name AS time FROM otel.spans',
  'WITH spans AS (SELECT * FROM otel.spans) SELECT * FROM spans',
  'TABLE otel.spans',
  'SELECT * FROM (VALUES (1)) v(n) CROSS JOIN LATERAL (SELECT name, body FROM otel.spans, otel.logs) x',
  'SELECT name FROM otel.spans UNION SELECT body FROM otel.logs',
  'SELECT EXISTS (SELECT name::int FROM otel.spans)',
  'SELECT * FROM otel.spans TABLESAMPLE SYSTEM (100)',
];

for (const server of servers) {
  describe(`rules for what an organization’s own people may read, on ${server.name}`, () => {
    let warehouse: TestWarehouse;
    beforeAll(async () => {
      warehouse = await createWarehouse(server);
      await warehouse.component.start(AbortSignal.timeout(20_000));
      const [organization] = warehouse.organizations;
      for (const { table, rows } of withheldOf(secret)) await writeRows(warehouse, organization, table, rows);
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });

    it('hold on every way to a table', async () => {
      const { wrong, answered, unruled } = await everyWay({
        telemetry: warehouse.component,
        organizationId: warehouse.organizations[0],
        secret,
        statements: [...detours, ...[...oracles(), ...legitimate].map(({ sql }) => sql)],
        timeoutMs: 5_000,
        textOf: withCause,
      });
      expect(wrong).toEqual([]);
      expect(answered).toBeGreaterThan(100);
      expect(await unruled('SELECT s FROM otel.spans s')).toContain(secret.marker);
    });
  });
}
