import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { archive, extractAs, ReleaseError, run, type Source } from './source.ts';

/** Where an artifact is made: scratch directories in `work`, the result in `out`. */
interface Places {
  readonly root: string;
  readonly work: string;
  readonly out: string;
}

/** npm gives every file in a package the same time, so the same sources make the same bytes. */
export async function packPackage(source: Source, name: string, { root, work, out }: Places): Promise<string> {
  const directory = join(work, 'package');
  await extractAs(source, directory, name, root);
  await run('npm', ['run', 'build'], { cwd: directory });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', out], { cwd: directory });
  return `${name.replace(/^@/, '').replace('/', '-')}-${source.version}.tgz`;
}

export async function packChart(source: Source, { work, out }: Places): Promise<string> {
  const directory = join(work, 'chart');
  await source.extract(directory);
  const tar = join(out, 'chart.tar');
  const from = { directory: join(directory, 'deploy'), members: ['helm'], rename: 's,^helm,sightline,' };
  await archive(tar, source, from);
  await run('gzip', ['-9n', tar]);
  const packed = `sightline-chart-${source.version}.tgz`;
  await rename(`${tar}.gz`, join(out, packed));
  return packed;
}

export async function writeBom(source: Source, name: string, { root, work, out }: Places): Promise<string> {
  const directory = join(work, 'bom');
  await extractAs(source, directory, name, root);
  const bom = await run('node', [join(directory, 'deploy/sbom.ts')], {
    env: { ...process.env, SOURCE_DATE_EPOCH: source.time },
  });
  const file = `sightline-${source.version}.cdx.json`;
  await writeFile(join(out, file), bom);
  return file;
}

export interface Artifact {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export async function describe(out: string, file: string): Promise<Artifact> {
  const path = join(out, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = await stat(path);
  if (size === 0) throw new ReleaseError(`${file} is empty.`);
  return { file, bytes: size, sha256: hash.digest('hex') };
}

export async function writeChecksums(artifacts: readonly Artifact[], out: string): Promise<void> {
  const lines = artifacts.map(({ file, sha256 }) => `${sha256}  ${file}\n`);
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''));
}
