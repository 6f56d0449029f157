import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import { withheld } from '../../test/contract/isolation-rows.ts';
import { everyWay, withCause, withheldOf } from '../../test/contract/telemetry/ruled.ts';
import { oracles } from './support/attacks-oracles.ts';
import { Harness, newOrganization } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';

const secret = withheld(new Date());
let harness: Harness;
let organizationId: OrganizationId;

beforeAll(async () => {
  harness = await Harness.start({ memoryLimitMb: 500 });
  organizationId = newOrganization();
  for (const { table, rows } of withheldOf(secret)) await harness.load(organizationId, table, rows);
});
afterAll(() => harness.stop());

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
    const { wrong, answered, unruled } = await everyWay({
      telemetry: harness.telemetry,
      organizationId,
      secret,
      statements: [...detours, ...oracles, ...legitimate.map(({ sql }) => sql)],
      timeoutMs: 300,
      textOf: withCause,
    });
    expect(wrong).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect(await unruled('FROM otel.spans')).toContain(secret.marker);
  });
});
