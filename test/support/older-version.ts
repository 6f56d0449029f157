import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../shipping/support/checkout.ts';
import { root } from './gateway.ts';

const execute = promisify(execFile);
const git = (...args: string[]) => execute('git', args, { cwd: root, maxBuffer: 100_000_000 });

/** The last commit of 0.1.0, from which people upgrade. */
export const olderCommit = 'aa217c69';

/** A file of that version, or undefined where this clone does not reach back so far. */
export async function olderFile(path: string): Promise<string | undefined> {
  try {
    return (await git('show', `${olderCommit}:${path}`)).stdout;
  } catch (error) {
    if (process.env['REQUIRE_SERVICES'] === '1') throw error;
    process.stderr.write(
      `not run: upgrading from ${olderCommit}, which this clone does not hold; git fetch --unshallow brings it\n`,
    );
    return undefined;
  }
}

/** Installs that version in `directory`, with the dependencies of its own lock file, and returns its program. */
export async function installOlder(directory: string): Promise<string> {
  await mkdir(directory);
  const archive = `${directory}.tar`;
  await git('archive', '--format=tar', `--output=${archive}`, olderCommit);
  await execute('tar', ['-xf', archive, '-C', directory]);
  const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await execute('npm', ['ci', ...options], { cwd: directory, env: cleanEnvironment(), maxBuffer: 10_000_000 });
  return join(directory, 'bin/sightline.js');
}
