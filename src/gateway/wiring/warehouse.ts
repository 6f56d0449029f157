import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../contract/agent/index.ts';
import { type OrganizationId, SightlineError } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { holdExclusively } from '../process/exclusive.ts';
import { loadPlugin } from '../process/registry.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import { createAgent } from './agent-query.ts';
import { issuerHost } from './plugins.ts';
import { telemetryHost } from './telemetry-host.ts';
import { warehouseTrouble } from './warehouse-trouble.ts';
import type { OpenWorkspace } from './workspace.ts';

interface Warehouse {
  /** For messages: `telemetry plugin "clickhouse"`. */
  readonly label: string;
  readonly telemetry: Telemetry;
}

/** The workspace's telemetry plugin, not started, for the operator's commands. Its `stop` closes their connections. */
export async function openWarehouse(workspace: OpenWorkspace): Promise<Warehouse> {
  const { config, file, storage } = workspace;
  const loaded = await loadPlugin('telemetry', config.telemetry, file);
  const host = workspace.host(config.listen.port, loaded.label);
  return { label: loaded.label, telemetry: loaded.create(telemetryHost(host, storage.directory)) };
}

/** Its failure says what is wrong with the warehouse, and what to do. */
export async function startWarehouse({ config }: OpenWorkspace, telemetry: Telemetry): Promise<void> {
  try {
    await telemetry.start(AbortSignal.timeout(startTimeoutMs));
  } catch (error) {
    throw warehouseTrouble(error, config.telemetry) ?? error;
  }
}

/** The workspace's issuer, not started: it can be asked what lies outside, and gives out nothing. */
export async function openIssuer(workspace: OpenWorkspace): Promise<Issuer> {
  const { config, file, storage } = workspace;
  const loaded = await loadPlugin('issuer', config.issuer, file);
  const host = workspace.host(config.listen.port, loaded.label);
  return loaded.create(
    issuerHost(host, { storage, audit: { reserve: unaudited, reserveNow: unaudited } }, `${host.publicUrl}/mcp`),
  );
}

function unaudited(): never {
  throw new SightlineError('unavailable', 'No token is given out here.');
}

/** The workspace's agent, not started, over a telemetry that it cannot ask: to see whether it could work. */
export async function openAgent(workspace: OpenWorkspace): Promise<{ readonly label: string; readonly agent: Agent }> {
  const { config, file } = workspace;
  const plugin = await loadPlugin('agent', config.agent, file);
  const { telemetry } = await openWarehouse(workspace);
  const { dialect } = telemetry;
  await telemetry.stop();
  const query = async () => {
    throw new SightlineError('telemetry_unavailable', 'The telemetry is not asked here.');
  };
  const baseline = await loadPlugin('agent', { plugin: 'playbook' });
  const host = (label: string) => ({ ...workspace.host(config.listen.port, label), dialect, query });
  return { label: plugin.label, agent: createAgent({ plugin, baseline, host }) };
}

const startTimeoutMs = 30_000;

/** The telemetry that a gateway kept in its data directory, while no gateway runs on it. */
interface EmbeddedTelemetry {
  readonly telemetry: Telemetry;
  has(organizationId: OrganizationId): boolean;
  /** Names of the organization's ingest logs that are left there. */
  logs(organizationId: OrganizationId): readonly string[];
  close(): Promise<void>;
}

/** Throws `conflict` where a gateway runs on the directory, `not_found` where there is no telemetry in it. */
export async function openEmbeddedTelemetry(workspace: OpenWorkspace, directory: string): Promise<EmbeddedTelemetry> {
  if (!existsSync(join(directory, 'telemetry'))) {
    throw new SightlineError('not_found', `There is no telemetry in ${directory}.`, {
      hint: 'Name the data directory of the gateway that kept it, with --from DIR.',
    });
  }
  const hold = holdExclusively(directory);
  const { config, file, storage } = workspace;
  try {
    const loaded = await loadPlugin('telemetry', { plugin: 'duckdb' }, file);
    const host = { ...workspace.host(config.listen.port, loaded.label), dataDirectory: directory };
    const telemetry = loaded.create(telemetryHost(host, storage.directory));
    await telemetry.start(AbortSignal.timeout(startTimeoutMs));
    return {
      telemetry,
      has: (id) => existsSync(join(directory, 'telemetry', id, 'telemetry.duckdb')),
      logs: (id) => logsOf(join(directory, 'ingest'), id),
      async close() {
        await telemetry.stop();
        hold.release();
      },
    };
  } catch (error) {
    hold.release();
    throw error;
  }
}

/** Each worker of a gateway has a folder of its own, with logs by organization. */
function logsOf(ingest: string, id: OrganizationId): readonly string[] {
  if (!existsSync(ingest)) return [];
  return readdirSync(ingest, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^log-[0-9a-f]{12}$/.test(entry.name))
    .filter(({ parentPath }) => parentPath.endsWith(`/${id}`))
    .map(({ name }) => name);
}
