import { createAlertInputs, loadAlertInputs, loadPlugin } from '../process/registry.ts';
import { agentQuery, createAgent } from './agent-query.ts';
import type { LoadedPlugins, PluginParts, Wiring } from './cradle.ts';
import { receivingSink } from './ingest-source.ts';
import { telemetryHost } from './telemetry-host.ts';
import type { Foundation } from './workspace.ts';
import { type AuthorizationServerHost, createAuthorizationServer } from '../../identity/issue/server.ts';
import { SightlineError, type Host, type IssuerHost } from '../../contract/core/index.ts';
import type { AuditLog, Storage } from '../../contract/storage/index.ts';

/** What an issuer plugin is given. `admit` finds the account of an identity that a provider vouches for. */
export function issuerHost(
  host: Host,
  { storage, audit }: { readonly storage: Storage; readonly audit: AuditLog },
  resource: string,
  admit: AuthorizationServerHost['admit'] = nobody,
): IssuerHost {
  const given = { ...host, storage, resource };
  return { ...given, authorizationServer: (options) => createAuthorizationServer(options, { ...given, audit, admit }) };
}

const nobody: AuthorizationServerHost['admit'] = async () => {
  throw new SightlineError('forbidden', 'Identity providers let nobody in here.');
};

export async function loadPlugins(foundation: Foundation): Promise<LoadedPlugins> {
  const { config, file } = foundation;
  return {
    storage: await loadPlugin('storage', config.storage, file),
    issuer: await loadPlugin('issuer', config.issuer, file),
    telemetry: await loadPlugin('telemetry', config.telemetry, file),
    agent: await loadPlugin('agent', config.agent, file),
    alerts: await loadAlertInputs(config.alerts, file),
  };
}

export const pluginWiring: Wiring<PluginParts> = {
  storage: ({ plugins: { storage }, foundation, urls }) => storage.create(foundation.host(urls.port, storage.label)),
  issuer: ({ plugins, foundation, urls, storage, audit, people }) => {
    const host = foundation.host(urls.port, plugins.issuer.label);
    return plugins.issuer.create(issuerHost(host, { storage, audit }, urls.resource, (claims) => people.admit(claims)));
  },
  telemetry: ({ plugins, foundation, urls, storage }) =>
    plugins.telemetry.create(
      telemetryHost(foundation.host(urls.port, plugins.telemetry.label), {
        // Of a deleted one, too: the tenant's rows may go by its name when they are removed.
        findOrganization: async (id) =>
          (await storage.directory.findOrganization(id)) ??
          (await storage.directory.deletedOrganizations.list()).find((deleted) => deleted.id === id),
      }),
    ),
  agent: ({ plugins, baseline, foundation, urls, telemetry, pipeline }) =>
    createAgent({
      plugin: plugins.agent,
      baseline,
      host: (label) => ({
        ...foundation.host(urls.port, label),
        dialect: telemetry.dialect,
        query: agentQuery(pipeline),
      }),
    }),
  alertInputs: ({ plugins, foundation, urls }) =>
    createAlertInputs(plugins.alerts, (label) => foundation.host(urls.port, label)),
  sink: ({ foundation, telemetry }) => receivingSink(foundation.config, telemetry),
};
