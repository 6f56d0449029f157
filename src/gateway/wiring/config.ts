import type { ReadConfig } from '../config/load.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import { configSchema } from '../config/schema.ts';
import type { PluginKind, SolePluginKind } from '../../contract/core/index.ts';
import { reloadableKeys } from '../config/reload.ts';
import { importDefinition, loadPlugin, shippedPlugins } from '../process/registry.ts';
import { loadAlertInputs } from './alert-inputs.ts';
import { loadSettings, type Settings } from './settings.ts';

const kinds = ['storage', 'issuer', 'telemetry', 'agent'] as const satisfies readonly SolePluginKind[];

export interface CheckedConfig extends ReadConfig {
  readonly plugins: Readonly<Record<PluginKind, string>>;
  /** What a running gateway takes of it on SIGHUP. */
  readonly reloadable: readonly string[];
}

/** Loads the config with every plugin it names, each validated by its own schema, and creates nothing. */
export async function checkConfig(settings: Settings): Promise<CheckedConfig> {
  const loaded = await loadSettings(settings);
  for (const kind of kinds) await loadPlugin(kind, loaded.config[kind], loaded.file);
  const alerts = await loadAlertInputs(loaded);
  const { storage, issuer, telemetry, agent } = loaded.config;
  return {
    ...loaded,
    reloadable: reloadableKeys,
    plugins: {
      storage: storage.plugin,
      issuer: issuer.plugin,
      telemetry: telemetry.plugin,
      agent: agent.plugin,
      alerts: [...alerts.keys()].join(', '),
    },
  };
}

/** The JSON Schema of the config file, as committed in config/sightline.schema.json. */
export async function writeConfigSchema(): Promise<string> {
  const defaults = configSchema.parse({});
  const names = [
    ...kinds.flatMap((kind) => {
      const first = defaults[kind].plugin;
      return [...new Set([first, ...shippedPlugins(kind)])].map((name) => ({ kind, name }));
    }),
    ...shippedPlugins('alerts').map((name) => ({ kind: 'alerts' as const, name })),
  ];
  const plugins = names.map(async ({ kind, name }) => {
    const { configSchema: schema } = await importDefinition(kind, name);
    return { kind, name, configSchema: schema };
  });
  return configJsonSchema(await Promise.all(plugins));
}
