import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  otelTables,
  tableNames,
  type LogicalColumn,
  type ReadRules,
  type RuleAction,
  type TableName,
  type TableRules,
} from '../../src/contract/telemetry/index.ts';
import { withheld } from '../../test/contract/isolation-rows.ts';
import { ask, writeRows, type Answer } from '../../test/contract/telemetry/warehouse.ts';
import { everyPostgresServer } from '../../test/support/postgres.ts';
import { oracles } from './support/attacks-oracles.ts';
import { legitimate } from './support/legitimate.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

/*
 * Everything of one organization's that can hold a text is ruled, and its own people ask. Each way to a table that the
 * corpora know leads to what the rules leave of it.
 */

const now = new Date();
const secret = withheld(now);
const servers = await everyPostgresServer();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

function ruled(action: RuleAction): ReadRules {
  const rulesOf = (table: TableName): TableRules => {
    const columns: readonly LogicalColumn[] = otelTables[table].columns;
    const texts = columns.filter(({ type }) => type === 'string').map(({ name }) => [name, action] as const);
    const nested = columns.filter(({ type }) => ['events', 'links', 'exemplars'].includes(type));
    return {
      columns: new Map([...texts, ...nested.map(({ name }) => [name, 'mask'] as const)]),
      attributes: [
        { key: `key-${secret.marker}`, prefix: false, action: 'deny' },
        { key: '', prefix: true, action },
      ],
    };
  };
  const tables = { spans: rulesOf('spans'), metrics: rulesOf('metrics'), logs: rulesOf('logs') };
  return { key: action, salt: '000102030405060708090a0b0c0d0e0f', tables };
}

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
      for (const table of tableNames) {
        await writeRows(warehouse, organization, table, secret.rows(table).slice(0, 20));
      }
    });
    afterAll(async () => {
      await warehouse.component.stop();
      await warehouse.cleanup();
    });

    it('hold on every way to a table', async () => {
      const { component } = warehouse;
      const [organization] = warehouse.organizations;
      const limits = { maxRows: 50, timeoutMs: 5_000 };
      let answered = 0;
      const hostile = oracles().map(({ sql }) => sql);
      const statements = [...detours, ...hostile, ...legitimate.map(({ sql }) => sql)];
      const wrong: string[] = [];
      for (const action of ['mask', 'hash', 'deny'] as const) {
        const rules = ruled(action);
        for (const sql of statements) {
          const outcome = await attempt(ask(component, organization, sql, { rules, limits }));
          if (outcome.startsWith('[{')) answered += 1;
          if (outcome.includes(secret.marker)) wrong.push(`${action}: ${sql} → ${outcome.slice(0, 300)}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(answered).toBeGreaterThan(100);
      const plain = await attempt(ask(component, organization, 'SELECT s FROM otel.spans s', { limits }));
      expect(plain).toContain(secret.marker);
    });
  });
}

/** What comes back, and what of an error only the log gets. */
async function attempt(work: Promise<Answer>): Promise<string> {
  try {
    const { columns, text } = await work;
    return JSON.stringify(columns) + text;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
    return `${String(error)} ${cause}`;
  }
}
