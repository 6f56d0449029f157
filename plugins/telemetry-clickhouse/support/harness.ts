import { randomBytes } from 'node:crypto';
import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { Telemetry, TelemetryHost } from '../../../src/contract/telemetry/index.ts';
import { telemetryHost } from '../../../src/gateway/wiring/telemetry-host.ts';
import { noOrganizations, testHost } from '../../../test/contract/host.ts';
import type { WarehouseUnderTest } from '../../../test/contract/telemetry/warehouse.ts';
import plugin from '../index.ts';
import { ownTables } from '../setup/own-tables.ts';

/** The plugin as a gateway makes it, over tables of its own unless the config says otherwise; one user reads and writes. */
export function createTelemetry(
  url: string | readonly string[],
  config: object = {},
  off: Partial<TelemetryHost> = {},
): Telemetry {
  const host = { ...telemetryHost(testHost('/nonexistent'), noOrganizations), ...off };
  const tenancy = { boundary: { mode: 'column', column: 'organization' }, value: 'id' };
  const ingest: unknown = 'ingest' in config ? config.ingest : {};
  const written =
    typeof ingest === 'object' ? { ingest: { username: 'default', ...accountOf(config), ...ingest } } : {};
  return plugin.create(plugin.configSchema.parse({ url, tenancy, ...config, ...written }), host);
}

/** A server that tests may make databases on. */
export interface TestServer {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  run(sql: string): Promise<string>;
  runAll(statements: readonly string[]): Promise<void>;
}

/** Tables of our own in a database of their own. */
export async function ownDatabase(server: TestServer): Promise<string> {
  const database = `d${randomBytes(6).toString('hex')}`;
  await server.runAll(ownTables({ database, prefix: '' }));
  return database;
}

/** The plugin over empty tables of its own. */
export async function ownWarehouse(server: TestServer, config: object = {}): Promise<WarehouseUnderTest> {
  const database = await ownDatabase(server);
  return {
    component: createTelemetry(server.url, { ...accountOf(server), ingest: { database, prefix: '' }, ...config }),
    organizations: [newOrganization(), newOrganization()],
    cleanup: async () => void (await server.run(`DROP DATABASE ${database}`)),
  };
}

function accountOf({ username, password }: { readonly username?: unknown; readonly password?: unknown }): object {
  return { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
}

export function newOrganization(): OrganizationId {
  return newId('org');
}
