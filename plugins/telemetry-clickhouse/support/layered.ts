import {
  mappingSchema,
  otelTables,
  tableNames,
  type GatedStatement,
  type SqlGates,
  type TelemetryHost,
} from '../../../src/contract/telemetry/index.ts';
import { mappingHelpers } from '../../../src/telemetry/mapping/mapping.ts';
import type { IsolationUnderTest } from '../../../test/contract/isolation.ts';
import { writeRows } from '../../../test/contract/telemetry/warehouse.ts';
import { PolicyRouter } from '../../../test/support/clickhouse/policy-router.ts';
import { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { changedSettings } from '../client/settings.ts';
import { Mapped } from '../mapped.ts';
import { physicalColumns } from '../types.ts';
import { identifier, literal, type Rows } from '../quote.ts';
import { access } from '../setup/access.ts';
import { ownTables } from '../setup/own-tables.ts';
import { physicalTables } from '../setup/physical-tables.ts';
import { createTelemetry, newOrganization } from './harness.ts';
import { usersXml } from './layouts/users-xml.ts';

const boundary = { mode: 'column', column: 'organization', type: 'string' } as const;
const quick = { max_execution_time: '2', max_result_rows: '100000', result_overflow_mode: 'break' };

/** Gate, predicate beneath each table and row policies of the server, or without one of them; `gate` leaves the policies alone. */
export async function warehouseWithout(layer?: 'policies' | 'predicate' | 'gate'): Promise<IsolationUnderTest> {
  const router =
    layer === 'policies'
      ? undefined
      : await PolicyRouter.start({ readonlyExcept: changedSettings, usersXml: restricted });
  const server = router?.admin ?? (await ClickHouseServer.start());
  await server.runAll([...ownTables({ database: 'sightline', prefix: 'sightline_' }), ...everybodysViews()]);
  const off: Partial<TelemetryHost> = {
    ...(layer === 'gate' && { gates: openGates }),
    ...((layer === 'gate' || layer === 'predicate') && { mapping: withoutPredicate }),
  };
  return {
    component: createTelemetry(router?.url ?? server.url, {}, off),
    organizations: [newOrganization(), newOrganization()],
    bare: async (sql) => await server.run(sql, quick).catch(String),
    cleanup: () => router?.stop() ?? server.stop(),
  };
}

/**
 * The gate and the predicate alone, where an attribute names the tenant: no key of a table knows of it, so that the order
 * in which predicates run is all that keeps one organization's values from another's errors.
 */
export async function warehouseByAttribute(): Promise<IsolationUnderTest> {
  const server = await ClickHouseServer.start();
  await server.runAll(ownTables({ database: 'sightline', prefix: 'sightline_' }));
  const writer = createTelemetry(server.url);
  const organizations = [newOrganization(), newOrganization()] as const;
  return {
    component: createTelemetry(server.url, {
      ingest: undefined,
      mapping: { preset: 'sightline' },
      tenancy: { boundary: { mode: 'resource_attribute', key: 'tenant' }, value: 'id' },
    }),
    organizations,
    write: async (organization, table, rows) =>
      await writeRows(
        { component: writer, organizations, cleanup: async () => undefined },
        organization,
        table,
        rows.map((row) => ({
          ...row,
          resource_attributes: { ...Object(row['resource_attributes']), tenant: organization },
        })),
      ),
    cleanup: async () => {
      await writer.stop();
      await server.stop();
    },
  };
}

/** The access that the setup prints, where one engine is one tenant's. */
export async function restricted(tenant: string, admin: ClickHouseServer): Promise<string> {
  const rows: Rows = async (sql) => {
    const text = await admin.run(`${sql} FORMAT JSONEachRow`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  };
  const { mapping, json } = await Mapped.read(
    rows,
    mappingSchema.parse({ preset: 'sightline' }),
    boundary,
    mappingHelpers,
  );
  const granted = await access({
    username: 'default',
    limits: { executionSeconds: 60, memoryBytes: 2_000_000_000 },
    boundary,
    server: { by: 'query_id' },
    json,
    tenants: [],
    tables: () => physicalTables(rows, physicalColumns(rows), mapping),
  });
  // The embedded engine knows no setting that may be changed at readonly = 1: the front refuses the others itself.
  return usersXml({ ...granted, settings: [] }, (using) =>
    using.replaceAll(/decodeURLComponent\(.*?\)\[1\]\)/g, () => literal(tenant)),
  );
}

/** For what an attacker sees where nothing keeps organizations apart. */
function everybodysViews(): readonly string[] {
  return [
    'CREATE DATABASE otel',
    ...tableNames.map((table) => {
      const columns = otelTables[table].columns.map(({ name }) =>
        table === 'spans' && name === 'start_time'
          ? 'time AS start_time'
          : table === 'spans' && name === 'end_time'
            ? 'addNanoseconds(time, duration_nano) AS end_time'
            : identifier(name),
      );
      return `CREATE VIEW otel.${table} AS SELECT ${columns.join(', ')} FROM sightline.sightline_${table}`;
    }),
  ];
}

const withoutPredicate: TelemetryHost['mapping'] = {
  ...mappingHelpers,
  relation: (mapping, table, { binding }, writer) =>
    mappingHelpers.relation(mapping, table, { binding, tenant: undefined }, writer),
};

/** Lets everything through as it came, with the tables put in where their names stand. */
const openGates: SqlGates = {
  open: async () => ({
    admit: async (sql): Promise<GatedStatement> => ({
      tables: tableNames.filter((table) => sql.includes(`otel.${table}`)),
      reaches: [],
      write: (relation) =>
        tableNames.reduce((text, table) => text.replaceAll(`otel.${table}`, () => relation(table)), sql),
    }),
  }),
};
