import type { ReadConfig } from '../config/load.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import type { PluginKind, SolePluginKind } from '../../contract/core/index.ts';
import { reloadableKeys } from '../config/reload.ts';
import { importDefinition, loadPlugin } from '../process/registry.ts';
import { loadAlertInputs } from './alert-inputs.ts';
import { loadSettings } from './settings.ts';
import type { Settings } from './settings.ts';

const kinds = ['storage', 'issuer', 'telemetry', 'agent'] as const satisfies readonly SolePluginKind[];

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
  ['agent', 'llm'],
  ['alerts', 'generic'],
  ['alerts', 'alertmanager'],
  ['alerts', 'pagerduty'],
  ['alerts', 'datadog'],
] as const satisfies readonly (readonly [PluginKind, string])[];

export interface CheckedConfig extends ReadConfig {
  readonly plugins: Readonly<Record<PluginKind, string>>;
  /** What a running gateway takes of it on SIGHUP. */
  readonly reloadable: readonly string[];
}

/** Loads the config with every plugin it names, each validated by its own schema, and creates nothing. */
export async function checkConfig(settings: Settings): Promise<CheckedConfig> {
  const loaded = await loadSettings(settings);
  for (const kind of kinds) {
    const { plugin, ...config } = loaded.config[kind];
    await loadPlugin(kind, { kind, plugin, config }, loaded.file);
  }
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
  const plugins = await Promise.all(
    shipped.map(async ([kind, name]) => {
      const { configSchema } = await importDefinition(kind, name, undefined);
      return { kind, name, configSchema };
    }),
  );
  return configJsonSchema(plugins);
}
