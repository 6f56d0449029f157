import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const execute = promisify(execFile);
const stopping = new AbortController();

/** Ends the programs that run, and with them the release. */
export function stopPrograms(): void {
  stopping.abort();
}

/** What stops a release, in words for the person who makes it. */
export class ReleaseError extends Error {}

const failure = z.object({ code: z.union([z.string(), z.number()]), stdout: z.string(), stderr: z.string() });

/** Runs a program to its end and returns what it printed. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { maxBuffer: 100_000_000, signal: stopping.signal, ...options });
    return stdout;
  } catch (error) {
    if (stopping.signal.aborted) throw new ReleaseError('Stopped; nothing is left of it.');
    const { code, stdout, stderr } = failure.parse(error);
    if (code === 'ENOENT') throw new ReleaseError(`There is no ${program} here.`);
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n');
    throw new ReleaseError(`${program} ${args.slice(0, 2).join(' ')} ended with ${code}:\n${said}`);
  }
}

/** A commit, from which all is made: what git does not hold is in no release. */
export interface Source {
  readonly version: string;
  readonly commit: string;
  /** Of the commit, in seconds: the time that everything made from it bears, so that it is the same bytes tomorrow. */
  readonly time: string;
  /** The commit's files in a directory of their own. */
  extract(to: string): Promise<void>;
}

const manifestShape = z.looseObject({ name: z.string(), version: z.string() });

export async function sourceOf(root: string): Promise<Source> {
  const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: root })).trim();
  const { version } = manifestShape.parse(JSON.parse(await git('show', 'HEAD:package.json')));
  return {
    version,
    commit: await git('rev-parse', 'HEAD'),
    time: await git('log', '-1', '--format=%ct'),
    async extract(to) {
      await mkdir(to, { recursive: true });
      const archive = `${to}.tar`;
      await git('archive', '--format=tar', `--output=${archive}`, 'HEAD');
      await run('tar', ['-xf', archive, '-C', to]);
    },
  };
}

/** The commit's files as a package called `name`, with the dependencies that are installed in `root`. */
export async function extractAs(source: Source, to: string, name: string, root: string): Promise<void> {
  await source.extract(to);
  const path = join(to, 'package.json');
  const manifest = manifestShape.parse(JSON.parse(await readFile(path, 'utf8')));
  await writeFile(path, `${JSON.stringify({ ...manifest, name }, undefined, 2)}\n`);
  await symlink(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** A tar that depends on names, contents and the commit's time alone. */
export async function archive(
  file: string,
  { time }: Source,
  from: { readonly directory: string; readonly members: readonly string[]; readonly rename?: string },
): Promise<void> {
  const always = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', `--mtime=@${time}`];
  const rename = from.rename === undefined ? [] : [`--transform=${from.rename}`];
  await run('tar', ['-cf', file, ...always, ...rename, '-C', from.directory, ...from.members]);
}
