import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './process.ts';
import { versionOf, type Kind } from './kinds/kind.ts';

const cache = join(homedir(), '.cache', 'sightline-clients');

/** Where the client is installed: once a version, outside of the repository. */
export async function install(kind: Kind): Promise<string> {
  const place = join(cache, `${kind.name}-${versionOf(kind)}`);
  const there = await access(join(place, 'node_modules')).then(
    () => true,
    () => false,
  );
  if (there) return place;
  const begun = `${place}.begun`;
  await rm(begun, { recursive: true, force: true });
  await mkdir(begun, { recursive: true });
  await writeFile(join(begun, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--save-exact', ...kind.packages];
  const { code, output } = await runProgram('npm', words, { cwd: begun, env: process.env, timeoutMs: 600_000 });
  if (code !== 0) throw new Error(`npm cannot install ${kind.packages.join(' ')}: ${output.slice(-500)}`);
  await rename(begun, place);
  return place;
}
