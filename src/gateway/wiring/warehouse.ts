import type { Agent } from '../../contract/agent/index.ts';
import { SightlineError } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { loadPlugin } from '../process/registry.ts';
import type { Issuer } from '../../contract/issuer/index.ts';
import { createAgent } from './agent-query.ts';
import { issuerHost } from './plugins.ts';
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
