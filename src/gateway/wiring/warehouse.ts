import type { Telemetry } from '../../contract/telemetry/index.ts';
import { loadPlugin } from '../process/registry.ts';
import { telemetryHost } from './telemetry-host.ts';
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
