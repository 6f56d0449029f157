import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './support/gateway.ts';
import { writeCliReference } from './support/cli-reference.ts';
import { writeConfigReference } from './support/config-reference.ts';
import { writeToolsReference } from './support/tools-reference.ts';

it('docs/tools.md says what the tools are: npm run docs:tools writes it', async () => {
  const written = await readFile(join(root, 'docs/tools.md'), 'utf8');
  expect(written.trimEnd()).toBe((await writeToolsReference()).trimEnd());
}, 120_000);

it('docs/configuration.md says what the config takes: npm run docs:config writes it', async () => {
  const written = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  expect(written.trimEnd()).toBe((await writeConfigReference()).trimEnd());
  const keys = written.split('\n').filter((line) => line.startsWith('- `'));
  expect(keys.length).toBeGreaterThan(300);
  expect(keys.filter((line) => !/\): ./.test(line))).toEqual([]);
});

it('docs/cli.md says what the command line takes: npm run docs:cli writes it', async () => {
  const written = await readFile(join(root, 'docs/cli.md'), 'utf8');
  expect(written.trimEnd()).toBe((await writeCliReference()).trimEnd());
});
