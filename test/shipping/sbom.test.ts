import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { root } from '../support/gateway.ts';
import { cleanEnvironment } from './support/checkout.ts';

const run = promisify(execFile);

/** Of CycloneDX 1.5 what readers of it need. */
const bomShape = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.5'),
  serialNumber: z.string().startsWith('urn:uuid:'),
  metadata: z.object({
    component: z.object({ name: z.literal('sightline'), version: z.string(), 'bom-ref': z.string() }),
  }),
  components: z.array(
    z.object({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string(),
      purl: z.string().startsWith('pkg:npm/'),
      hashes: z.array(z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) })),
      licenses: z.array(z.unknown()).optional(),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const lockShape = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      name: z.string().optional(),
      dev: z.boolean().optional(),
      devOptional: z.boolean().optional(),
    }),
  ),
});

it('npm run sbom names every package that is shipped, with hash and version, and none of development', async () => {
  const { stdout } = await run('npm', ['run', '-s', 'sbom'], {
    cwd: root,
    env: cleanEnvironment(),
    maxBuffer: 100_000_000,
  });
  const bom = bomShape.parse(JSON.parse(stdout));
  const { packages } = lockShape.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
  const nameOf = (path: string, name?: string): string =>
    name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const listed = (isShipped: boolean): string[] =>
    Object.entries(packages).flatMap(([path, { version, name, dev, devOptional }]) =>
      path !== '' && (dev === true || devOptional === true) !== isShipped ? [`${nameOf(path, name)}@${version}`] : [],
    );
  const described = new Set(bom.components.map((component) => `${component.name}@${component.version}`));
  expect(described).toEqual(new Set(listed(true)));
  const shipped = new Set(listed(true));
  expect(listed(false).filter((each) => !shipped.has(each) && described.has(each))).toEqual([]);
  const refs = new Set([bom.metadata.component['bom-ref'], ...bom.components.map((component) => component['bom-ref'])]);
  expect(bom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual(
    [],
  );
  const own = bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref']);
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  expect(new Set(own?.dependsOn)).toEqual(
    new Set(Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)),
  );
}, 120_000);
