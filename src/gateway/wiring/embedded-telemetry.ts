import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { holdExclusively } from '../process/exclusive.ts';
import { loadPlugin } from '../process/registry.ts';
import { telemetryHost } from './telemetry-host.ts';
import type { OpenWorkspace } from './workspace.ts';

const startTimeoutMs = 30_000;

/** The telemetry that a gateway kept in its data directory, while no gateway runs on it. */
export interface EmbeddedTelemetry {
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
