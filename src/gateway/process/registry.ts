import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { AlertInput } from '../../contract/alerts/index.ts';
import { problemsOf } from '../config/problems.ts';
import {
  apiVersion,
  type Host,
  type Hosts,
  type PluginKind,
  type Products,
  SightlineError,
} from '../../contract/core/index.ts';

/** A section of the config file: what stands beside `plugin` is the plugin's own. */
export interface PluginSection {
  /** Short name (`duckdb`), package (`@acme/telemetry-snowflake`) or path (`./my-plugin.ts`). */
  readonly plugin: string;
  readonly [key: string]: unknown;
}

/** A plugin found, checked and with its config validated: all that is left is to create it. */
export interface LoadedPlugin<Kind extends PluginKind> {
  /** For messages: `telemetry plugin "duckdb"`. */
  readonly label: string;
  readonly name: string;
  create(host: Hosts[Kind]): Products[Kind];
}

const pluginsDirectory = fileURLToPath(new URL('../../../plugins/', import.meta.url));
const extension = extname(import.meta.url);

const definitionShape = z.object({
  kind: z.string(),
  name: z.string(),
  apiVersion: z.number(),
  configSchema: z.custom<z.ZodType>(isZodLike),
  create: z.custom<(config: unknown, host: unknown) => unknown>((value) => typeof value === 'function'),
});
export type AnyDefinition = z.infer<typeof definitionShape>;

/** Finds, imports and checks a plugin. Every failure is one sentence that names the plugin, the config key and the cause. */
export async function loadPlugin<Kind extends PluginKind>(
  kind: Kind,
  { plugin, ...config }: PluginSection,
  configFile?: string,
): Promise<LoadedPlugin<Kind>> {
  const label = `${kind} plugin "${plugin}"`;
  const definition = await importDefinition(kind, plugin, configFile);
  const parsed = definition.configSchema.safeParse(config);
  if (!parsed.success) {
    const problems = problemsOf(parsed.error, definition.configSchema, kind);
    throw new SightlineError('config_invalid', `The config of ${label} is not valid:\n${problems.join('\n')}`);
  }
  return {
    label,
    name: definition.name,
    create(host) {
      try {
        // The definition's own types tie kind, config and product together; here only the kind is known.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        return definition.create(parsed.data, host) as Products[Kind];
      } catch (cause) {
        throw failed(label, kind, cause);
      }
    },
  };
}

/** The definition alone, as the JSON Schema of the config needs it. */
export async function importDefinition(kind: PluginKind, plugin: string, configFile?: string): Promise<AnyDefinition> {
  const label = `${kind} plugin "${plugin}"`;
  let module: unknown;
  try {
    module = await import(pathToFileURL(locate(kind, plugin, configFile)).href);
  } catch (cause) {
    throw failed(label, kind, cause);
  }
  const definition = definitionShape.safeParse(
    typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined,
  );
  if (!definition.success) {
    throw failed(label, kind, new Error('its default export is not a plugin definition (see definePlugin)'));
  }
  if (definition.data.kind !== kind) throw failed(label, kind, new Error(`it is a ${definition.data.kind} plugin`));
  if (definition.data.apiVersion !== apiVersion) {
    throw failed(label, kind, new Error(`it is made for API ${definition.data.apiVersion}, this is ${apiVersion}`));
  }
  return definition.data;
}

/** Short names of the shipped plugins of a kind, by their folders: `plugins/<kind>-<name>`. */
export function shippedPlugins(kind: PluginKind): readonly string[] {
  return readdirSync(pluginsDirectory)
    .filter((folder) => folder.startsWith(`${kind}-`) && existsSync(indexOf(folder)))
    .map((folder) => folder.slice(kind.length + 1))
    .toSorted();
}

function indexOf(folder: string): string {
  return join(pluginsDirectory, folder, `index${extension}`);
}

function locate(kind: PluginKind, plugin: string, configFile: string | undefined): string {
  if (/^[a-z][a-z0-9-]*$/.test(plugin)) {
    const file = indexOf(`${kind}-${plugin}`);
    if (existsSync(file)) return file;
    if (!isInstalled(plugin, configFile)) {
      throw new Error(`there is no such plugin; shipped are: ${shippedPlugins(kind).join(', ')}`);
    }
  }
  return requireFrom(configFile).resolve(plugin);
}

/** Resolves from the config file's folder, as its reader would expect. */
function requireFrom(configFile: string | undefined): NodeJS.Require {
  return createRequire(join(configFile === undefined ? process.cwd() : dirname(configFile), 'noop.js'));
}

function isInstalled(plugin: string, configFile: string | undefined): boolean {
  try {
    requireFrom(configFile).resolve(plugin);
    return true;
  } catch {
    return false;
  }
}

function failed(label: string, key: string, cause: unknown): SightlineError {
  const message =
    cause instanceof Error ? cause.message.split('\n', 1)[0]?.replace(/ imported from .*$/, '') : String(cause);
  // What a plugin says of its own config names the key and what to do.
  if (cause instanceof SightlineError) return cause;
  return new SightlineError('plugin_failed', `${label} (config key ${key}.plugin) cannot be used: ${message}`, {
    cause,
    hint: 'Give the short name of a shipped plugin, an installed package, or a path relative to the config file.',
  });
}

/** A third-party plugin may bring its own copy of zod: what counts is that it parses. */
function isZodLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'safeParse' in value && typeof value.safeParse === 'function';
}

export type LoadedAlertInputs = ReadonlyMap<string, LoadedPlugin<'alerts'>>;

/** The configured alert plugins by their names, which is how a source keeps which one is its own. */
export async function loadAlertInputs(
  sections: readonly PluginSection[],
  configFile: string | undefined,
): Promise<LoadedAlertInputs> {
  const loaded = new Map<string, LoadedPlugin<'alerts'>>();
  for (const section of sections) {
    const each = await loadPlugin('alerts', section, configFile);
    if (loaded.has(each.name)) {
      throw new SightlineError('config_invalid', `Two plugins in the config (alerts) are named ${each.name}.`);
    }
    loaded.set(each.name, each);
  }
  return loaded;
}

export function createAlertInputs(
  loaded: LoadedAlertInputs,
  host: (label: string) => Host,
): ReadonlyMap<string, AlertInput> {
  return new Map([...loaded].map(([name, plugin]) => [name, plugin.create(host(plugin.label))]));
}
