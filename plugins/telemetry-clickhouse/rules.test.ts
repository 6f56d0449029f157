import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
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
import { ask, writeRows, type Answer, type WarehouseUnderTest } from '../../test/contract/telemetry/warehouse.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { oracles } from './support/attacks-oracles.ts';
import { ownWarehouse } from './support/harness.ts';

/*
 * Everything of one organization's that can hold a text is ruled, and its own people ask. Each way to a table that the
 * corpora know leads to what the rules leave of it.
 */

const now = new Date();
const secret = withheld(now);

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
  'SELECT tuple(s.*) FROM otel.spans s',
  'SELECT toString(tuple(*)) FROM otel.spans',
  "SELECT COLUMNS('.*name.*') FROM otel.spans",
  "SELECT s.COLUMNS('.*') APPLY(toString) FROM otel.spans s",
  'SELECT * EXCEPT (time) FROM otel.spans',
  'SELECT * REPLACE (toString(name) AS trace_id) FROM otel.spans',
  'SELECT _sightline_1, _sightline_9 FROM otel.spans',
  'SELECT SpanName, Body FROM otel.spans, otel.logs',
  'SELECT otel.spans.name FROM otel.spans',
  'SELECT * FROM otel.spans s JOIN otel.logs l USING (trace_id, service_name)',
  'SELECT k, v FROM otel.spans ARRAY JOIN mapKeys(attributes) AS k, mapValues(attributes) AS v',
  'SELECT e.attributes, e.name FROM otel.spans ARRAY JOIN events AS e',
  'SELECT events.attributes, events.name FROM otel.spans',
  'SELECT attributes.values, attributes.keys, name.size, name.null FROM otel.spans',
  'SELECT tupleElement(events[1], 3) FROM otel.spans',
  'SELECT any(name), anyLast(name), groupArray(name), topK(3)(name), argMax(name, time) FROM otel.spans',
  'SELECT lagInFrame(name) OVER (ORDER BY time), first_value(name) OVER () FROM otel.spans',
  'SELECT toInt32(name) FROM otel.spans',
  'SELECT throwIf(1, name) FROM otel.spans',
  'SELECT count() FROM otel.spans GROUP BY toInt32(name)',
  'SELECT 1 FROM otel.spans ORDER BY toInt32(name)',
  "SELECT toInt32(attributes['secret']) FROM otel.spans",
  'SELECT mapFilter((k, v) -> toInt32(v) > 0, attributes) FROM otel.spans',
  'SELECT arrayMap(e -> toString(e), events) FROM otel.spans',
  'WITH spans AS (SELECT * FROM otel.spans) SELECT * FROM spans',
  'SELECT (SELECT name FROM otel.spans LIMIT 1)',
  'SELECT name FROM otel.spans UNION ALL SELECT body FROM otel.logs',
  'SELECT name AS time FROM otel.spans',
  'SELECT * FROM otel.spans FORMAT Vertical',
  'SELECT * FROM otel.spans SAMPLE 1',
  'SELECT name FROM otel.spans WITH TOTALS',
];

withEngine(() => {
  const server = sharedServer();
  describe('rules for what an organization’s own people may read', () => {
    let warehouse: WarehouseUnderTest;
    beforeAll(async () => {
      warehouse = await ownWarehouse(server());
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
      const statements = [...detours, ...oracles.slice(0, 20)];
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
      expect(answered).toBeGreaterThan(30);
      const plain = await attempt(ask(component, organization, 'SELECT * FROM otel.spans', { limits }));
      expect(plain).toContain(secret.marker);
    });
  });
});

/** What comes back. The log gets the engine's words too, which quote the rules. */
async function attempt(work: Promise<Answer>): Promise<string> {
  try {
    const { columns, text } = await work;
    return JSON.stringify(columns) + text;
  } catch (error) {
    return error instanceof SightlineError ? `${error.message} ${error.hint}` : String(error);
  }
}
