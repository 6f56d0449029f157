import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError } from '../../src/contract/core/index.ts';
import { withheld } from '../../test/contract/isolation-rows.ts';
import { everyWay, withheldOf } from '../../test/contract/telemetry/ruled.ts';
import { writeRows, type WarehouseUnderTest } from '../../test/contract/telemetry/warehouse.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { oracles } from './support/attacks-oracles.ts';
import { ownWarehouse } from './support/harness.ts';

const secret = withheld(new Date());

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
        statements: [...detours, ...oracles.slice(0, 20)],
        timeoutMs: 5_000,
        // The log gets the engine's words too, which quote the rules.
        textOf: (error) => (error instanceof SightlineError ? `${error.message} ${error.hint}` : String(error)),
      });
      expect(wrong).toEqual([]);
      expect(answered).toBeGreaterThan(30);
      expect(await unruled('SELECT * FROM otel.spans')).toContain(secret.marker);
    });
  });
});
