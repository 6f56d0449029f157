import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describe, packChart, packPackage, writeBom, writeChecksums, type Artifact } from './release/artifacts.ts';
import { buildImage, requireImageTools } from './release/image.ts';
import { ReleaseError, run, sourceOf, stopPrograms } from './release/source.ts';

/*
 * What an operator downloads, made from the commit that is checked out: `npm run release -- --scope @acme`. It reaches nothing
 * but npm's registry and Debian's packages. All of it or nothing is left in release/.
 */

const root = join(import.meta.dirname, '..');
const say = (line: string): boolean => process.stderr.write(`${line}\n`);

function settings() {
  try {
    const { values } = parseArgs({
      options: {
        scope: { type: 'string' },
        'without-image': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    });
    if (values.scope !== undefined && !/^@[a-z0-9~-][a-z0-9._~-]*$/.test(values.scope)) {
      throw new ReleaseError(`--scope ${values.scope}: must be a scope of npm, such as @acme.`);
    }
    return values;
  } catch (error) {
    const usage = 'Usage: npm run release -- [--scope @acme] [--without-image] [--json]';
    throw new ReleaseError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

type Step = readonly [what: string, make: () => Promise<string>];

async function release(): Promise<void> {
  const { scope, json, 'without-image': withoutImage } = settings();
  if (!withoutImage) await requireImageTools();
  const source = await sourceOf(root);
  const name = scope === undefined ? 'sightline' : `${scope}/sightline`;
  say(`${name} ${source.version} of commit ${source.commit.slice(0, 12)}`);
  const changed = await run('git', ['status', '--porcelain'], { cwd: root });
  if (changed !== '') say('Changes that are not committed are left out.');

  await removeLeftovers();
  // Named for the process, so that another release knows whether it is still under way.
  const work = await mkdtemp(join(tmpdir(), `${scratch}${process.pid}-`));
  try {
    const out = join(work, 'out');
    await mkdir(out);
    const places = { root, work, out };
    const image: Step = ['image', () => buildImage(source, work, out, root)];
    const steps: readonly Step[] = [
      ['npm package', () => packPackage(source, name, places)],
      ['Helm chart', () => packChart(source, places)],
      ['bill of materials', () => writeBom(source, name, places)],
      ...(withoutImage ? [] : [image]),
    ];
    const artifacts: Artifact[] = [];
    for (const [index, [what, make]] of steps.entries()) {
      say(`[${index + 1}/${steps.length}] ${what} …`);
      const began = performance.now();
      const artifact = await describe(out, await make());
      artifacts.push(artifact);
      const seconds = ((performance.now() - began) / 1_000).toFixed(1);
      say(`      ${artifact.file}, ${(artifact.bytes / 1e3).toFixed(0)} kB, in ${seconds} s`);
    }
    await writeChecksums(artifacts, out);
    const to = join(root, 'release');
    await rm(to, { recursive: true, force: true });
    await cp(out, to, { recursive: true, preserveTimestamps: true });
    say(`All in ${to}; check it there with sha256sum -c SHA256SUMS.`);
    const { version, commit } = source;
    if (json) process.stdout.write(`${JSON.stringify({ name, version, commit, artifacts }, undefined, 2)}\n`);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

const scratch = 'sightline-release-';

/** Of releases that were killed: an image's layers take a gigabyte. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^sightline-release-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    say(`Removing ${name}, which a release that was killed left behind.`);
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stopPrograms);

try {
  await release();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  say(`error: ${error.message}`);
  process.exitCode = 1;
}
