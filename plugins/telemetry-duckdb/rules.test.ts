import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OrganizationId } from '../../src/contract/core/index.ts';
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
import { ask, type Answer } from '../../test/contract/telemetry/warehouse.ts';
import { oracles } from './support/attacks-oracles.ts';
import { Harness, newOrganization } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';

/*
 * Everything of one organization's that can hold a text is ruled, and its own people ask. Each way to a table that the
 * corpora know leads to what the rules leave of it.
 */

const now = new Date();
const secret = withheld(now);
let harness: Harness;
let organizationId: OrganizationId;

beforeAll(async () => {
  harness = await Harness.start({ memoryLimitMb: 500 });
  organizationId = newOrganization();
  for (const table of tableNames) await harness.load(organizationId, table, secret.rows(table).slice(0, 20));
});
afterAll(() => harness.stop());

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
  'SELECT spans FROM otel.spans',
  'SELECT to_json(spans) FROM otel.spans',
  'SELECT s FROM otel.spans s',
  'SELECT s.* FROM otel.spans s',
  'SELECT spans.* EXCLUDE (time) FROM otel.spans',
  "SELECT COLUMNS('.*name.*') FROM otel.spans",
  'SELECT stored.name FROM otel.spans',
  'SELECT stored FROM otel.spans',
  'SELECT * FROM otel.spans s(a, b, c, d, e, f, g, h, i, j, k)',
  'SELECT otel.spans.name FROM otel.spans',
  'SELECT OTEL.Spans.Name FROM Otel.SPANS',
  'SELECT rowid, * FROM otel.spans',
  'SELECT unnest(map_entries(attributes)) FROM otel.spans',
  'SELECT unnest(map_values(resource_attributes)) FROM otel.logs',
  "SELECT attributes->>'secret', attributes.secret FROM otel.spans",
  'SELECT unnest(events, recursive := true) FROM otel.spans',
  'SELECT min(name), max(name), string_agg(name), histogram(name), approx_top_k(name, 3) FROM otel.spans',
  "SELECT * FROM (PIVOT otel.spans ON name IN ('***') USING max(trace_id))",
  'SELECT * FROM (UNPIVOT (SELECT name, trace_id FROM otel.spans) ON name, trace_id INTO NAME n VALUE v)',
  'SELECT name::INTEGER FROM otel.spans',
  'SELECT error(name) FROM otel.spans',
  "SELECT CAST(attributes['secret'] AS INTEGER) FROM otel.spans",
  "SELECT strptime(name, '%Y') FROM otel.spans",
  'SELECT (SELECT name FROM otel.spans)',
  'FROM otel.spans',
  'SELECT name AS time FROM otel.spans',
  'WITH spans AS (FROM otel.spans) SELECT * FROM spans',
];

describe('rules for what an organization’s own people may read', () => {
  it('hold on every way to a table', async () => {
    const wrong: string[] = [];
    const statements = [...detours, ...oracles, ...legitimate.map(({ sql }) => sql)];
    const limits = { maxRows: 50, timeoutMs: 300 };
    for (const action of ['mask', 'hash', 'deny'] as const) {
      const rules = ruled(action);
      for (const sql of statements) {
        const outcome = await attempt(ask(harness.telemetry, organizationId, sql, { rules, limits }));
        if (outcome.includes(secret.marker)) wrong.push(`${action}: ${sql} → ${outcome.slice(0, 300)}`);
      }
    }
    expect(wrong).toEqual([]);
    const plain = await attempt(ask(harness.telemetry, organizationId, 'FROM otel.spans', { limits }));
    expect(plain).toContain(secret.marker);
  });
});

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
