import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/*
 * The software bill of materials of what is shipped, in CycloneDX, on standard output: `npm run -s sbom > sbom.json`. npm
 * writes it, from a lock file that holds nothing else. Of the whole one it would leave out, with --omit=dev, whatever a
 * development dependency needs too. With SOURCE_DATE_EPOCH the same lock file gives the same bytes.
 */

const root = join(import.meta.dirname, '..');
const lockShape = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional(), devOptional: z.boolean().optional() })),
});

function read(name: string): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(root, name), 'utf8')));
}

const { devDependencies: _dev, scripts: _scripts, ...manifest } = read('package.json');
const lock = lockShape.parse(read('package-lock.json'));
const packages = Object.fromEntries(
  Object.entries(lock.packages).flatMap(([path, { devDependencies: _devs, ...entry }]) =>
    entry.dev === true || entry.devOptional === true ? [] : [[path, entry]],
  ),
);

const epoch = process.env['SOURCE_DATE_EPOCH'];

/** Its time is that of the sources, and its serial number follows from what it holds. */
function reproducible(bom: string, seconds: number): string {
  const timed = bom.replace(/"timestamp": "[^"]*"/, `"timestamp": "${new Date(seconds * 1_000).toISOString()}"`);
  const hash = createHash('sha256')
    .update(timed.replace(/"serialNumber": "[^"]*"/, ''))
    .digest('hex');
  // Version 8 of RFC 9562, whose other bits are free.
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return timed.replace(/"serialNumber": "[^"]*"/, `"serialNumber": "urn:uuid:${parts.join('-')}"`);
}

const temporary = mkdtempSync(join(tmpdir(), 'sightline-sbom-'));
try {
  // npm calls what it describes as the directory is called.
  const directory = join(temporary, 'sightline');
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const bom = execFileSync('npm', args, { cwd: directory, maxBuffer: 100_000_000, encoding: 'utf8' });
  process.stdout.write(epoch === undefined ? bom : reproducible(bom, Number(epoch)));
} finally {
  rmSync(temporary, { recursive: true });
}
