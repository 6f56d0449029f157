import { readHolder } from '../process/exclusive.ts';
import { loadSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { deriveUrls } from './urls.ts';

/** The MCP endpoint of the gateway that these settings are of, whether it runs or not. Touches no file. */
export async function endpointOf(settings: Settings): Promise<string> {
  const { config } = await loadSettings(settings);
  const holder = readHolder(config.dataDirectory);
  // A gateway on a free port is known by what it announced alone.
  if (holder !== undefined && config.publicUrl === undefined) return `${holder.url}/mcp`;
  return deriveUrls(config, config.listen.port).resource;
}
