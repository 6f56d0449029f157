import type { LoadedConfig } from '../config/load.ts';
import { SightlineError, type Host } from '../../contract/core/index.ts';
import type { AlertInput } from '../../contract/alerts/index.ts';
import { loadPlugin, type LoadedPlugin } from '../process/registry.ts';

export type LoadedAlertInputs = ReadonlyMap<string, LoadedPlugin<'alerts'>>;

/** The configured alert plugins by their names, which is how a source keeps which one is its own. */
export async function loadAlertInputs({ config, file }: LoadedConfig): Promise<LoadedAlertInputs> {
  const loaded = new Map<string, LoadedPlugin<'alerts'>>();
  for (const section of config.alerts) {
    const each = await loadPlugin('alerts', section, file);
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
