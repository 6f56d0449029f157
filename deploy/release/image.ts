import { chmod, cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { arch } from 'node:process';
import { dirname, join } from 'node:path';
import { archive, ReleaseError, run, type Source } from './source.ts';

/*
 * The image by the Dockerfile as it is. Its base stands under the tag that the Dockerfile names, and is made here where no
 * registry of images can be reached: the essential packages of Debian and the Node of the npm package `node`.
 */

const programs = ['buildah', 'mmdebstrap'] as const;
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export async function requireImageTools(): Promise<void> {
  for (const program of programs) {
    await run(program, ['--version']).catch(() => {
      throw new ReleaseError(
        `The image needs ${programs.join(' and ')}, and there is no ${program} here. On Debian: apt-get install ${programs.join(' ')}. Or leave the image out with --without-image.`,
      );
    });
  }
}

/** @returns the name of the archive in `out`. */
export async function buildImage(source: Source, work: string, out: string, root: string): Promise<string> {
  const context = join(work, 'image');
  await source.extract(context);
  const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
  const [, base = '', node = '', suite = ''] = /^FROM (node:([\d.]+)-(\w+)-slim)/m.exec(dockerfile) ?? [];
  const environment = { ...process.env, SOURCE_DATE_EPOCH: source.time };
  const store = join(work, 'images');
  const buildah = (...args: string[]): Promise<string> =>
    run('buildah', ['--root', store, '--runroot', join(work, 'run'), '--storage-driver', 'vfs', ...args], {
      env: environment,
    });
  const time = ['--timestamp', source.time];

  const files = join(work, 'base.tar');
  await run('mmdebstrap', [...minimal, suite, files], { env: environment });
  const container = (await buildah('from', 'scratch')).trim();
  await buildah('add', container, files, '/');
  await buildah('copy', container, await nodeOf(root, node), '/usr/local/bin/node');
  await buildah('config', '--cmd', 'node', container);
  await buildah('commit', '--rm', ...time, container, `docker.io/library/${base}`);

  const tag = `sightline:${source.version}`;
  const tools = join(work, 'tools');
  await layOutNpm(tools);
  const host = ['--isolation', 'chroot', '--network', 'host', '--volume', `${tools}:${toolsInside}:ro`];
  await buildah('build', '--pull-never', '--layers=false', ...host, ...time, '--tag', tag, context);
  const name = `sightline-${source.version}-linux-${architectures[arch] ?? arch}.oci.tar`;
  // By ourselves, since in buildah's own archive each file has the time at which it was written.
  const layout = join(work, 'layout');
  await buildah('push', tag, `oci:${layout}:${tag}`);
  await archive(join(out, name), source, { directory: layout, members: ['oci-layout', 'index.json', 'blobs'] });
  return name;
}

/** Documentation but licences goes in the end: leaving it out while packages are unpacked takes twice the time. */
const withoutManuals = [
  'find "$1/usr/share/doc" ! -type d ! -name copyright -delete',
  'rm -rf "$1"/usr/share/man/* "$1"/usr/share/info/* "$1"/usr/share/locale/*',
].join(' && ');

/** Essential packages, and the library that Node and the engines are linked with. */
const minimal = ['--variant=essential', '--include=libstdc++6', `--customize-hook=${withoutManuals}`];

async function nodeOf(root: string, version: string): Promise<string> {
  const path = join(root, 'node_modules/node/bin/node');
  const installed = (await run(path, ['--version'])).trim();
  if (installed === `v${version}`) return path;
  throw new ReleaseError(`The Dockerfile names Node ${version}, and ${path} is ${installed}: run npm ci.`);
}

const toolsInside = '/usr/local/sbin';

const setting = async (name: string): Promise<string> => (await run('npm', ['config', 'get', name])).trim();

/** npm and its settings for the step that installs; mounted where programs are looked for, and no part of the image. */
async function layOutNpm(to: string): Promise<void> {
  const program = process.env['npm_execpath'];
  if (program === undefined) throw new ReleaseError('Start it by npm: npm run release.');
  await mkdir(to);
  await cp(dirname(dirname(await realpath(program))), join(to, 'package'), { recursive: true });
  await writeFile(join(to, 'npmrc'), `registry=${await setting('registry')}\n`);
  // A company's own authorities, where npm here trusts some.
  const own = await setting('cafile');
  const authorities = own === 'null' ? process.env['NODE_EXTRA_CA_CERTS'] : own;
  if (authorities !== undefined) await cp(authorities, join(to, 'authorities'), { dereference: true });
  const trust = authorities === undefined ? '' : `NODE_EXTRA_CA_CERTS=${toolsInside}/authorities `;
  const start = `exec node ${toolsInside}/package/bin/npm-cli.js --userconfig=${toolsInside}/npmrc "$@"`;
  await writeFile(join(to, 'npm'), `#!/bin/sh\n${trust}${start}\n`);
  await chmod(join(to, 'npm'), 0o755);
}
