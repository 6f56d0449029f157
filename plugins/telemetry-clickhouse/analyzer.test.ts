import { afterEach, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { Telemetry } from '../../src/contract/telemetry/index.ts';
import { ask, writeRows } from '../../test/contract/telemetry/warehouse.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { createTelemetry, newOrganization, ownDatabase } from './support/harness.ts';

/** Each fails when it is computed for another organization's row. */
const oracles = [
  "SELECT count() FROM otel.spans WHERE intDiv(1, if(name LIKE 'withheld-%', 0, 1)) = 1 OR service_name = 'x'",
  "SELECT count() FROM otel.spans WHERE toString(toUInt8(if(name LIKE 'withheld-%', name, '1'))) IN (SELECT '1')",
  "SELECT count() FROM otel.spans WHERE indexOf([1], toUInt8(if(name LIKE 'withheld-%', name, '1'))) > 0",
  "SELECT sum(n) FROM (SELECT toUInt8(if(name LIKE 'withheld-%', name, '1')) AS n FROM otel.spans) WHERE n",
];

withEngine(() => {
  describe('errors of a ClickHouse', () => {
    const server = sharedServer();
    let telemetry: Telemetry | undefined;
    afterEach(async () => telemetry?.stop());

    it.each([
      ['as it comes', {}],
      ['without its analyzer', { enable_analyzer: 0 }],
      ['that behaves as an old one', { compatibility: '23.8' }],
    ])('%s tell nothing of rows of others', async (_how, settings) => {
      const database = await ownDatabase(server());
      const component = createTelemetry(server().url, { settings, ingest: { database, prefix: '' } });
      telemetry = component;
      await component.start(new AbortController().signal);
      // A few of the other's rows before many of ours: such a granule is filtered late.
      const [other = newOrganization(), own = newOrganization()] = [newOrganization(), newOrganization()].toSorted();
      const write = async (organization: OrganizationId, name: string, length: number) =>
        await writeRows(
          { component, organizations: [own, other], cleanup: async () => undefined },
          organization,
          'spans',
          Array.from({ length }, () => ({ time: new Date(), name, service_name: 'shop' })),
        );
      await write(own, 'mine', 2_000);
      await write(other, 'withheld-secret', 100);
      // Both in one part, as merges leave them.
      await server().run(`OPTIMIZE TABLE ${database}.spans FINAL`);
      for (const sql of oracles) expect(JSON.stringify((await ask(component, own, sql)).rows)).toBe('[["2000"]]');
    });
  });
});
