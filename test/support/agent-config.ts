import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { loadPlugin } from '../../src/gateway/process/registry.ts';

/** The agent's section of a config as the gateway reads it; variables and files hold a key. */
export async function parseConfig(directory: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const home = await mkdtemp(join(directory, 'config-'));
  await writeFile(join(home, 'key'), 'sk-example\n');
  const file = join(home, 'sightline.config.yaml');
  await writeFile(file, text.replaceAll(/\$\{file:[^}]*\}/g, `\${file:${join(home, 'key')}}`));
  const env = Object.fromEntries([...text.matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => [name, 'sk-example']));
  const { config } = await loadConfig({ file, cwd: home, env, overrides: {} });
  const { plugin, ...section } = config.agent;
  await loadPlugin('agent', { plugin, ...section }, file);
  return section;
}
