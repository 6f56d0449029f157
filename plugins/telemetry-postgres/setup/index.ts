import { SightlineError } from '../../../src/contract/core/index.ts';
import {
  isTenant,
  otelTables,
  tableNames,
  type PhysicalColumns,
  type SetupScript,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { physicalColumns } from '../catalog.ts';
import type { PostgresConfig } from '../config.ts';
import { namesOf, resolveTables } from '../layout.ts';
import { clientOf, type OperationsOptions } from '../settings.ts';
import { typeName } from '../relation.ts';
import type { Warehouses } from '../warehouses.ts';
import { exporterColumns, exporterPreset } from '../presets/exporter.ts';
import { grantsOn, mappingsOf, hardeningScript, rolesScript } from './roles.ts';
import { indexesScript, tablesScript } from './tables.ts';
import { viewsScript } from './views.ts';

/**
 * What an administrator runs, in this order, and can run again. The tables are looked at where the database can be reached;
 * our own need not be there yet.
 */
export async function setupScripts(
  { config, kind, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<readonly SetupScript[]> {
  const gateway = loginOf(config);
  const own = config.ingest.enabled;
  const { owner, schema, privateSchema } = config.boundary;
  const login = config.ingest.url === undefined ? undefined : userOf(config.ingest.url);
  const scripts = [
    rolesScript({
      gateway,
      ...(kind === 'views' && { owner }),
      ...(own && login !== undefined && { writer: login }),
      connectionLimit: 2 * config.pool.max + 5,
      statementTimeoutMs: config.statementTimeoutSeconds * 1_000,
      tempFileLimitMb: config.tempFileLimitMb,
    }),
  ];
  const { boundary, organizations } = config.tenancy;
  if (own && login !== undefined && boundary.mode === 'column') {
    scripts.push(tablesScript({ names: namesOf(config), organization: boundary, writer: login }));
  }
  const physical = own ? async () => assumed : lookedAt(warehouses, signal);
  const mapping = await resolveTables(config, host, physical);
  const tenants = 'template' in boundary ? Object.values(organizations ?? {}).map(checkedTenant) : [];
  const indexes = mapping.preset === exporterPreset.name ? indexesScript(mappingsOf(mapping, tenants)) : undefined;
  if (indexes !== undefined) scripts.push(indexes);
  if (kind === 'views') {
    const options = { mapping, boundary, tenants, schema, privateSchema, owner, gateway };
    scripts.push(viewsScript(options, host.mapping));
  } else {
    // Where there are no views, the gateway reads the tables themselves.
    const sql = grantsOn(mappingsOf(mapping, tenants), gateway).join('\n');
    scripts.push({ title: 'What the gateway reads. Run by the owner of the tables.', sql });
  }
  scripts.push(hardeningScript(gateway));
  return scripts;
}

const assumed: ReadonlyMap<string, string> = new Map([
  ...tableNames.flatMap((table) => otelTables[table].columns.map(({ name, type }) => [name, typeName(type)] as const)),
  ...exporterColumns,
]);

/** Before the scripts have made the gateway's login, nobody can look: then the presets are as they usually are. */
function lookedAt(warehouses: Warehouses, signal: AbortSignal): PhysicalColumns {
  const physical = physicalColumns(warehouses.main, signal);
  return async (table) => {
    try {
      return await physical(table);
    } catch {
      signal.throwIfAborted();
      return assumed;
    }
  };
}

function checkedTenant(value: string): Tenant {
  if (isTenant(value) && /^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new SightlineError(
    'config_invalid',
    'telemetry.tenancy.organizations: a tenant in a name has only letters, digits, _ and -.',
  );
}

function loginOf(config: PostgresConfig): string {
  const [first] = Object.values(config.connections);
  if (config.tenancy.boundary.mode === 'connection' && first !== undefined) return userOf(first);
  const { connectionString, user } = clientOf(config);
  return connectionString === undefined ? (user ?? '') : userOf(connectionString);
}

function userOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}
