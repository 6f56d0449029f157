import { execFile } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../support/gateway.ts';

const run = promisify(execFile);

/** What a clone would hold, and the changes under way: nothing that git ignores. */
export async function trackedFiles(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return stdout.split('\0').filter((path) => path !== '');
}

/** A clean checkout in an empty directory, where a build can leave what it likes. */
export async function copyCheckout(to: string, options: { readonly dependencies: boolean }): Promise<void> {
  for (const path of await trackedFiles()) await cp(join(root, path), join(to, path), { recursive: true });
  if (options.dependencies) await symlink(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** npm and npx beside this Node, whatever else is on the path; nothing of an npm that runs the tests. */
export function cleanEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|NODE_OPTIONS$|SIGHTLINE_)/.test(name),
  );
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  return { ...Object.fromEntries(kept), PATH: path, ...more };
}
