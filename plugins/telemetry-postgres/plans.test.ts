import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyPostgresServer } from '../../test/support/postgres.ts';
import type { StatementBinding } from '../../src/contract/telemetry/index.ts';
import { askBare } from './support/ask.ts';
import { createWarehouse, type TestWarehouse } from './support/warehouse.ts';

const servers = await everyPostgresServer();
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const start = new Date('2026-03-01T12:00:00Z');
const window = { start, end: new Date(start.getTime() + 600_000) };

/** Many services and traces over days, so that an index is worth its while. */
const fill = (organization: string) => `
  INSERT INTO telemetry.spans (organization, time, service_name, trace_id, name)
  SELECT '${organization}', '2026-02-26T00:00:00Z'::timestamptz + i * interval '12 seconds', 'service-' || i % 50, lpad(to_hex(i / 5), 32, '0'), 'x'
  FROM generate_series(1, 30000) AS i;
  ANALYZE telemetry.spans`;

for (const server of servers) {
  for (const isolation of ['layered', 'degraded'] as const) {
    describe(`plans on ${server.name}, ${isolation}`, () => {
      let warehouse: TestWarehouse;
      beforeAll(async () => {
        warehouse = await createWarehouse(server, { isolation });
        for (const organization of warehouse.organizations) await server.admin(fill(organization), warehouse.database);
        await warehouse.component.start(AbortSignal.timeout(20_000));
      });
      afterAll(async () => {
        await warehouse.component.stop();
        await warehouse.cleanup();
      });

      const planOf = async (sql: string, binding: StatementBinding = {}) => {
        const { component, organizations } = warehouse;
        const context = { organizationId: organizations[0], signal: new AbortController().signal };
        const checked = component.check(await component.parse(sql, context));
        const rendered = await component.render(checked, binding, context);
        // Past the gate, which lets no EXPLAIN through; the plan of a table's owner is the plan of the gateway.
        if (isolation === 'degraded') {
          return (await server.admin(`EXPLAIN ${rendered}`, warehouse.database))
            .map(([line]) => String(line))
            .join('\n');
        }
        return (await askBare(component, organizations[0], `EXPLAIN ${rendered}`)).rows
          .map(([line]) => String(line))
          .join('\n');
      };

      it('reach the index on time by the window', async () => {
        expect(await planOf('SELECT count(*) FROM otel.spans', { window })).toMatch(
          /Index.*\n(?:.*\n)*.*Cond: .*"?time"? >= /,
        );
      });

      // An OFFSET keeps every condition of the caller's above it, so without views only the window goes beneath.
      if (isolation === 'degraded') return;

      it("reach it by the statement's own condition", async () => {
        const sql =
          "SELECT count(*) FROM otel.spans WHERE time >= '2026-03-01T12:00:00Z' AND time < '2026-03-01T12:10:00Z'";
        expect(await planOf(sql)).toMatch(/Index.*\n(?:.*\n)*.*Cond: .*"?time"? >= /);
      });

      it('reach the index on organization, service and time', async () => {
        const plan = await planOf("SELECT name FROM otel.spans WHERE service_name = 'service-7'", { window });
        expect(plan).toMatch(/spans_service/);
        expect(plan).toMatch(
          /Index Cond: \(\(organization = .*\) AND \(service_name = 'service-7'::text\) AND \("time" >= /,
        );
      });

      it('reach the index on organization and trace', async () => {
        const plan = await planOf("SELECT name FROM otel.spans WHERE trace_id = '000000000000000000000000000004d2'");
        expect(plan).toMatch(/spans_trace/);
        expect(plan).toMatch(/Index Cond: \(\(organization = .*\) AND \(trace_id = /);
      });

      it("run nothing of the caller's before the tenant's filter", async () => {
        const plan = await planOf('SELECT name FROM otel.spans WHERE name::int > 0');
        expect(plan).toMatch(/Subquery Scan[^\n]*\n\s+Filter: [^\n]*name[^\n]*integer/);
      });

      it('are estimated by what they would read', async () => {
        const { component, organizations } = warehouse;
        const context = { organizationId: organizations[0], signal: new AbortController().signal };
        const estimate = async (sql: string) => {
          const checked = component.check(await component.parse(sql, context));
          return await component.estimate?.(await component.render(checked, {}, context), context);
        };
        const all = await estimate('SELECT count(DISTINCT name) FROM otel.spans');
        const some = await estimate("SELECT name FROM otel.spans WHERE trace_id = '000000000000000000000000000004d2'");
        const none = await estimate('SELECT 1 AS x');
        expect(all?.bytes).toBeGreaterThan(5_000_000);
        expect(some?.bytes).toBeLessThan(100_000);
        expect(none).toEqual({ bytes: 0, rows: 0 });
      });
    });
  }
}
