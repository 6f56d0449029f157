import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { changedSettings } from '../../plugins/telemetry-clickhouse/client/settings.ts';
import { ownTables } from '../../plugins/telemetry-clickhouse/setup/own-tables.ts';
import { createTelemetry } from '../../plugins/telemetry-clickhouse/support/harness.ts';
import { restricted } from '../../plugins/telemetry-clickhouse/support/layered.ts';
import { applyScripts } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { silentLogger } from '../contract/host.ts';
import { hashSecret, isId, newId, type OrganizationId } from '../../src/contract/core/index.ts';
import { tableNames } from '../../src/contract/telemetry/index.ts';
import { sendDemo, type DemoOptions, type Sent } from '../../src/lab/demo/index.ts';
import { createOtlpReceiver } from '../../src/telemetry/ingest/receiver.ts';
import { engineMissing } from './clickhouse/engine.ts';
import { ClickHouseServer } from './clickhouse/server.ts';
import { removeDirectory, sightline, sightlineJson, temporaryDirectory } from './gateway.ts';
import { listen } from './listen.ts';
import { everyPostgresServer } from './postgres.ts';

/** A data directory with a config file, and what must be stopped and removed after the gateway on it. */
export interface Place {
  readonly directory: string;
  /** `--config FILE` */
  readonly config: readonly [string, string];
  readonly stops: (() => Promise<void>)[];
}

/** By organization, what it sends. */
export type Senders = readonly (readonly [string, DemoOptions])[];

export async function placeFor(telemetry: object): Promise<Place> {
  const directory = await temporaryDirectory();
  const file = join(directory, 'sightline.config.json');
  await writeFile(file, JSON.stringify({ telemetry, limits: { requestsPerMinute: 6_000 } }));
  return { directory, config: ['--config', file], stops: [() => removeDirectory(directory)] };
}

/** PostgreSQL with tables of our own, set up by what `sightline telemetry setup` prints. Undefined where there is no server. */
export async function postgresPlace(): Promise<Place | undefined> {
  const [server, ...others] = await everyPostgresServer();
  for (const other of others) await other.stop();
  if (server === undefined) return undefined;
  const database = await server.createDatabase();
  const id = randomBytes(4).toString('hex');
  const [gateway, writer, owner] = [`sl_gateway_${id}`, `sl_writer_${id}`, `sl_owner_${id}`];
  const secret = randomBytes(24).toString('hex');
  const place = await placeFor({
    plugin: 'postgres',
    url: server.url(database, gateway, 'p'),
    boundary: { secret, owner, login: gateway },
    ingest: { enabled: true, url: server.url(database, writer, 'p') },
  });
  place.stops.unshift(async () => {
    await server.drop(database, [gateway, writer, owner]);
    await server.stop();
  });
  const scripts = z.object({ scripts: z.array(z.object({ title: z.string(), sql: z.string() })) });
  const printed = await sightlineJson(place.directory, ['telemetry', 'setup', ...place.config], scripts);
  const passwords = { gateway_password: 'p', writer_password: 'p', boundary_secret: secret };
  await applyScripts(server, database, printed.scripts, passwords);
  return place;
}

/**
 * The real ClickHouse engine with tables of our own, filled by our receiver; then the engine anew for the last sender, with
 * the access that the setup prints: the embedded one has one user and knows no query ids. Undefined where it cannot run.
 */
export async function clickhousePlace(senders: Senders): Promise<Place | undefined> {
  if (engineMissing() !== undefined) return undefined;
  const place = await placeFor({ plugin: 'duckdb' });
  const organizations = new Map<string, OrganizationId>();
  const created = z.object({ id: z.custom<OrganizationId>((id) => typeof id === 'string' && isId('org', id)) });
  for (const [name] of senders) {
    organizations.set(name, (await sightlineJson(place.directory, ['org', 'create', name], created)).id);
  }
  const everything = await ClickHouseServer.start();
  await everything.runAll(ownTables({ database: 'sightline', prefix: 'sightline_' }));
  await fill(everything, organizations, senders);
  const tenant = [...organizations.values()].at(-1) ?? '';
  const usersXml = await restricted(tenant, everything);
  const directory = await everything.copy();
  await everything.stop();
  const server = await ClickHouseServer.start({ directory, usersXml, readonlyExcept: changedSettings });
  place.stops.unshift(async () => {
    await server.stop();
    await removeDirectory(directory);
  });
  const tenancy = { boundary: { mode: 'column', column: 'organization' }, value: 'id' };
  // Whoever asks is this tenant to the engine's policies, which to the probe is no boundary.
  const isolation = 'degraded';
  const telemetry = { plugin: 'clickhouse', url: server.url, mapping: { preset: 'sightline' }, tenancy, isolation };
  await writeFile(place.config[1], JSON.stringify({ telemetry, limits: { requestsPerMinute: 6_000 } }));
  return place;
}

async function fill(
  server: ClickHouseServer,
  organizations: ReadonlyMap<string, OrganizationId>,
  senders: Senders,
): Promise<void> {
  const telemetry = createTelemetry(server.url);
  await telemetry.start(AbortSignal.timeout(20_000));
  const directory = await temporaryDirectory();
  const receiver = createOtlpReceiver({
    directory: {
      organizations: async () => [],
      ingestTokenByHash: async (hash) => {
        const found = [...organizations].find(([name]) => hashSecret(name) === hash);
        return found && { id: newId('it'), organizationId: found[1] };
      },
    },
    sink: telemetry.sink,
    dataDirectory: directory,
    retentionDays: () => 30,
    logger: silentLogger,
    now: () => new Date(),
  });
  const front = createServer((request, response) => void receiver.handle(request, response));
  try {
    await receiver.start(AbortSignal.timeout(20_000));
    const endpoint = `http://127.0.0.1:${await listen(front)}`;
    let sent = 0;
    for (const [token, demo] of senders) {
      sent += rowsOf(await sendDemo(demo, { endpoint, token, onProgress: () => {} }));
    }
    const counts = tableNames.map((table) => `(SELECT count() FROM sightline.sightline_${table})`);
    while (Number(await server.run(`SELECT ${counts.join(' + ')}`)) < sent) await delay(100);
  } finally {
    front.close();
    await receiver.stop();
    await telemetry.stop();
    await removeDirectory(directory);
  }
}

function rowsOf({ spans, logs, points }: Sent): number {
  return spans + logs + points;
}

/** The organization's ingest token. */
export async function ingestToken({ directory, config }: Place, organization: string): Promise<string> {
  const { stdout } = await sightline(directory, ['ingest', 'show', '--org', organization, '--json', ...config]);
  return z.object({ token: z.string() }).parse(JSON.parse(stdout)).token;
}
