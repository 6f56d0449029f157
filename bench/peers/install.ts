import { execFile } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The servers that we are compared with, by exact version. Too large to be development dependencies. */
export const versions = { '@toolbox-sdk/server': '1.12.0', '@bytebase/dbhub': '1.4.0' } as const;

export interface Installed {
  readonly toolbox: string;
  readonly dbhub: string;
}

/** Installs them once into the user's cache directory, from the registry that npm is configured for. */
export async function install(): Promise<Installed> {
  const wanted = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const directory = join(cache, 'sightline-bench', wanted.join('+').replaceAll(/[@/]+/g, '-'));
  const modules = join(directory, 'node_modules');
  const installed = {
    toolbox: join(modules, '@toolbox-sdk', `server-${process.platform}-${process.arch}`, 'bin', 'toolbox'),
    dbhub: join(modules, '@bytebase', 'dbhub', 'dist', 'index.js'),
  };
  const there = Object.values(installed).map((path) => access(path));
  if ((await Promise.allSettled(there)).some(({ status }) => status === 'rejected')) {
    process.stderr.write(`installing ${wanted.join(', ')} into ${directory}\n`);
    await mkdir(directory, { recursive: true });
    const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts', ...wanted];
    await promisify(execFile)('npm', args, { timeout: 300_000 });
  }
  return installed;
}
