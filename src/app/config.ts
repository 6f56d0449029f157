import type { LoadedConfig } from '../config/load.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import type { PluginKind } from '../contract/index.ts';
import { importDefinition, loadPlugin } from '../kernel/registry.ts';
import { loadSettings } from './settings.ts';
import type { Settings } from './settings.ts';

const kinds = ['storage', 'issuer', 'telemetry', 'agent'] as const satisfies readonly PluginKind[];

/** The default of each kind first. */
const shipped = [
  ['storage', 'knex'],
  ['issuer', 'builtin'],
  ['issuer', 'oidc'],
  ['telemetry', 'duckdb'],
  ['telemetry', 'postgres'],
  ['telemetry', 'clickhouse'],
  ['telemetry', 'bigquery'],
  ['agent', 'playbook'],
] as const satisfies readonly (readonly [PluginKind, string])[];

/** Loads the config with every plugin it names, each validated by its own schema, and creates nothing. */
export async function checkConfig(settings: Settings): Promise<LoadedConfig & { plugins: Record<PluginKind, string> }> {
  const loaded = await loadSettings(settings);
  for (const kind of kinds) {
    const { plugin, ...config } = loaded.config[kind];
    await loadPlugin(kind, { kind, plugin, config }, loaded.file);
  }
  const { storage, issuer, telemetry, agent } = loaded.config;
  return {
    ...loaded,
    plugins: {
      storage: storage.plugin,
      issuer: issuer.plugin,
      telemetry: telemetry.plugin,
      agent: agent.plugin,
    },
  };
}

/** The JSON Schema of the config file, as committed in config/sightline.schema.json. */
export async function writeConfigSchema(): Promise<string> {
  const plugins = await Promise.all(
    shipped.map(async ([kind, name]) => {
      const { configSchema } = await importDefinition(kind, name, undefined);
      return { kind, name, configSchema };
    }),
  );
  return configJsonSchema(plugins);
}
