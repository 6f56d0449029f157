import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import { type SetupScript, type Telemetry } from '../../../src/contract/telemetry/index.ts';
import { noOrganizations, testHost } from '../../../test/contract/host.ts';
import { telemetryHost } from '../../../src/gateway/wiring/telemetry-host.ts';
import type { PostgresServer } from '../../../test/support/postgres.ts';
import plugin from '../index.ts';

/** A database set up as the shipped scripts do it, and a telemetry product on it that is not started. */
export interface TestWarehouse {
  readonly component: Telemetry;
  readonly organizations: readonly [OrganizationId, OrganizationId];
  readonly database: string;
  readonly gateway: string;
  readonly writer: string;
  readonly owner: string;
  readonly password: string;
  readonly secret: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Another product on the same database. */
  create(changes?: Readonly<Record<string, unknown>>): Telemetry;
  cleanup(): Promise<void>;
}

/** Our own tables, filled by the receiver's way. `changes` go over the config before the scripts are written. */
export async function createWarehouse(
  server: PostgresServer,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<TestWarehouse> {
  const unique = randomBytes(5).toString('hex');
  const [gateway, writer, owner] = ['gateway', 'writer', 'owner'].map((role) => `sl_${role}_${unique}`);
  if (gateway === undefined || writer === undefined || owner === undefined) throw new Error('no names');
  const [password, secret] = [randomBytes(12).toString('hex'), randomBytes(24).toString('hex')];
  const database = await server.createDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'sl-pg-'));
  const config = {
    url: server.url(database, gateway, password),
    pool: { max: 4, connectSeconds: 3 },
    boundary: { secret, owner, login: gateway },
    ingest: { enabled: true, url: server.url(database, writer, password) },
    ...changes,
  };
  const create = (more: Readonly<Record<string, unknown>> = {}) =>
    plugin.create(
      plugin.configSchema.parse({ ...config, ...more }),
      telemetryHost(testHost(directory), noOrganizations),
    );
  const component = create();
  await applyScripts(server, database, (await component.operations?.setup(AbortSignal.timeout(20_000))) ?? [], {
    gateway_password: password,
    writer_password: password,
    boundary_secret: secret,
  });
  return {
    component,
    organizations: [newId('org'), newId('org')],
    database,
    gateway,
    writer,
    owner,
    password,
    secret,
    config,
    create,
    async cleanup() {
      await server.drop(database, [gateway, writer, owner]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** As psql runs them, without its own commands: `:'name'` stands for a variable, quoted. */
export async function applyScripts(
  server: PostgresServer,
  database: string,
  scripts: readonly SetupScript[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  await server.admin(asPsql(scripts.map(({ sql }) => sql).join('\n'), variables), database);
}

export function asPsql(script: string, variables: Readonly<Record<string, string>>): string {
  return script
    .replaceAll(/^(?:\\.*|.*\\gset)$/gm, '')
    .replaceAll(/:'(\w+)'/g, (_, name: string) => `'${(variables[name] ?? '').replaceAll("'", "''")}'`);
}
