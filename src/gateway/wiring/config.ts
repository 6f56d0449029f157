import { z } from 'zod';
import type { ReadConfig } from '../config/load.ts';
import { configSchema } from '../config/schema.ts';
import type { PluginKind, SolePluginKind } from '../../contract/core/index.ts';
import { reloadableKeys } from '../config/reload.ts';
import {
  importDefinition,
  loadAlertInputs,
  type LoadedPlugin,
  loadPlugin,
  shippedPlugins,
} from '../process/registry.ts';
import { createLogger } from '../process/logger.ts';
import { telemetryHost } from './telemetry-host.ts';
import { loadSettings, type Settings } from './settings.ts';
import { record } from '../config/values.ts';

const kinds = ['storage', 'issuer', 'telemetry', 'agent'] as const satisfies readonly SolePluginKind[];

export interface CheckedConfig extends ReadConfig {
  readonly plugins: Readonly<Record<PluginKind, string>>;
  /** What a running gateway takes of it on SIGHUP. */
  readonly reloadable: readonly string[];
}

/** Loads the config with every plugin it names, each validated by its own schema; a warehouse's mapping is read too. */
export async function checkConfig(settings: Settings): Promise<CheckedConfig> {
  const loaded = await loadSettings(settings);
  for (const kind of kinds) await loadPlugin(kind, loaded.config[kind], loaded.file);
  await checkWarehouse(await loadPlugin('telemetry', loaded.config.telemetry, loaded.file));
  const alerts = await loadAlertInputs(loaded.config.alerts, loaded.file);
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

/** As it would be served, but with nothing beneath it. */
async function checkWarehouse(plugin: LoadedPlugin<'telemetry'>): Promise<void> {
  const nothing = () => '';
  const vault = { seal: nothing, open: () => new Uint8Array(), derive: nothing, sign: nothing, verifies: () => false };
  const logger = createLogger({ level: 'silent' });
  const host = { logger, now: () => new Date(), publicUrl: '', authUrl: '', dataDirectory: '', vault };
  const { operations } = plugin.create(telemetryHost(host, { findOrganization: async () => undefined }));
  await operations?.check?.();
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

/** A shipped plugin's config schema, to be offered where its section stands. */
export interface ShippedPlugin {
  readonly kind: string;
  readonly name: string;
  readonly configSchema: z.ZodType;
}

/** The JSON Schema for editors (draft 7, which they all know): the core's keys, and each shipped plugin's under its name. */
export function configJsonSchema(shipped: readonly ShippedPlugin[]): string {
  const definitions: Record<string, unknown> = {
    reference: { type: 'string', pattern: String.raw`\$\{(env|file):` },
  };
  const root = toJsonSchema(configSchema, 'core', definitions);
  const properties: Record<string, unknown> = { ...record(root['properties']) };
  for (const kind of new Set(shipped.map((plugin) => plugin.kind))) {
    const list = record(properties[kind]);
    const several = list['type'] === 'array';
    const section = {
      oneOf: [
        ...shipped
          .filter((plugin) => plugin.kind === kind)
          // The first of a kind is the default one, so its name may be left out.
          .map((plugin, index) => pluginSection(plugin, several || index > 0, definitions)),
        {
          type: 'object',
          description: 'A plugin of your own: an installed package or a path relative to this file',
          properties: { plugin: { type: 'string', not: { enum: shipped.map(({ name }) => name) } } },
          required: ['plugin'],
        },
      ],
    };
    properties[kind] = several ? { ...list, items: section } : section;
  }
  return `${JSON.stringify({ ...root, properties, definitions }, null, 2)}\n`;
}

function pluginSection(
  { kind, name, configSchema: schema }: ShippedPlugin,
  isNamed: boolean,
  definitions: Record<string, unknown>,
): object {
  const named = (own: Readonly<Record<string, unknown>>): object => ({
    ...own,
    properties: { plugin: { const: name, default: name }, ...record(own['properties']) },
    required: [...(isNamed ? ['plugin'] : []), ...strings(own['required'])],
  });
  const own = toJsonSchema(schema, `${kind}-${name}`, definitions);
  const { oneOf } = own;
  // Each variant of a union refuses what it does not know, so each has to know the name.
  return Array.isArray(oneOf) ? { ...own, oneOf: oneOf.map((variant) => named(record(variant))) } : named(own);
}

/** A schema that refers to itself has definitions, which stand at the file's root: there each needs a name of its own. */
function toJsonSchema(
  schema: z.ZodType,
  name: string,
  definitions: Record<string, unknown>,
): Readonly<Record<string, unknown>> {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => acceptReferences(jsonSchema),
  });
  const text = JSON.stringify(made).replaceAll('#/definitions/__schema', `#/definitions/${name}-`);
  const { $schema: _, definitions: own, ...rest } = record(JSON.parse(text));
  for (const [key, definition] of Object.entries(record(own))) {
    definitions[key.replace('__schema', `${name}-`)] = definition;
  }
  return rest;
}

const scalars = new Set<unknown>(['string', 'number', 'integer', 'boolean']);

/** Every value may be a reference, which says nothing of what it stands for. */
function acceptReferences(schema: z.core.JSONSchema.BaseSchema): void {
  const { type, description: _description, default: _default, ...rules } = schema;
  // Any text may be a reference, too, where text is all that is asked.
  if (!scalars.has(type) || 'const' in rules || (type === 'string' && Object.keys(rules).length === 0)) return;
  const plain = { ...schema };
  delete plain.description;
  delete plain.default;
  for (const key of Object.keys(rules)) delete schema[key];
  delete schema.type;
  schema.anyOf = [plain, { $ref: '#/definitions/reference' }];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
