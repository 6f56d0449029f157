import { afterAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { newId } from '../../src/contract/core/index.ts';
import { telemetryHost } from '../../src/gateway/wiring/telemetry-host.ts';
import { noOrganizations, testHost } from '../../test/contract/host.ts';
import { outcomesOf, window } from '../../test/support/found-layouts/outcomes.ts';
import { postgresServers, type PostgresServer } from '../../test/support/postgres.ts';
import plugin from './index.ts';
import { ask } from './support/ask.ts';
import { foundLayouts, type FoundLayout } from './support/found-layouts.ts';
import { applyScripts } from './support/warehouse.ts';

const servers = await postgresServers();
afterAll(async () => {
  for (const server of servers) await server.stop();
});
const signal = () => AbortSignal.timeout(20_000);

describe.each(servers)('a database of $name that no preset knows, mapped as inspect prints it', (server) => {
  it.each(foundLayouts)('$name', async (layout) => {
    const database = await server.createDatabase();
    const unique = randomBytes(5).toString('hex');
    const [gateway, owner, looker] = ['gateway', 'owner', 'looker'].map((role) => `sl_${role}_${unique}`);
    if (gateway === undefined || owner === undefined || looker === undefined) throw new Error('no names');
    const secret = randomBytes(24).toString('hex');
    const organization = newId('org');
    const create = (url: string, mapping?: object) =>
      plugin.create(
        plugin.configSchema.parse({
          url,
          boundary: { secret, owner, login: gateway },
          tenancy: {
            boundary: layout.boundary,
            value: 'id',
            organizations: { [organization]: layout.tenant ?? 'acme' },
          },
          pool: { max: 2 },
          ...(mapping !== undefined && { mapping }),
        }),
        telemetryHost(testHost('/nonexistent'), noOrganizations),
      );
    try {
      await fill(server, database, layout);
      await server.admin(`CREATE ROLE ${looker} LOGIN PASSWORD '${unique}' IN ROLE pg_read_all_data`);
      const inspection = await create(server.url(database, looker, unique)).operations?.inspect(signal());
      const [best] = inspection?.candidates ?? [];
      const telemetry = create(server.url(database, gateway, unique), best?.mapping ?? {});
      try {
        const scripts = (await telemetry.operations?.setup(signal())) ?? [];
        await applyScripts(server, database, scripts, { gateway_password: unique, boundary_secret: secret });
        await telemetry.start(signal());
        const outcomes = await outcomesOf(
          'postgres',
          best,
          async (sql) => (await ask(telemetry, organization, sql, { window })).rows,
        );
        expect({ preset: best?.preset, ...outcomes }).toEqual({
          preset: 'by hand',
          right: 12,
          told: [],
          wrong: [],
          ...layout.is,
        });
        const empty = telemetry.dialect.tables.flatMap(({ name, columns }) =>
          columns.filter((column) => column.empty === true).map((column) => `otel.${name}.${column.name}`),
        );
        const missing = (best?.missing ?? []).map(({ what }) => what).filter((what) => what.split('.').length > 2);
        expect(empty.toSorted()).toEqual(missing.toSorted());
        // Looked at through what it mends, nothing is left to mend.
        const left = await telemetry.operations?.look?.(AbortSignal.timeout(20_000));
        expect(left?.filter(({ mend }) => mend !== undefined)).toEqual([]);
      } finally {
        await telemetry.stop();
      }
    } finally {
      await server.drop(database, [gateway, owner, looker]);
    }
  });
});

async function fill(server: PostgresServer, database: string, { tables, rows }: FoundLayout): Promise<void> {
  await server.admin(tables, database);
  for (const [table, records] of Object.entries(rows)) {
    const json = JSON.stringify(records).replaceAll("'", "''");
    await server.admin(
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, '${json}')`,
      database,
    );
  }
}
