import { expect, it } from '@jest/globals';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './support/gateway.ts';

/** Paths in the table "Where do I change …" of CONTRIBUTING.md: `<name>` stands for any name, braces for several. */
async function pathsOfChanges(): Promise<readonly string[]> {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, table = ''] = /## Where do I change …\n([\s\S]*?)\n## /.exec(text) ?? [];
  return [...table.matchAll(/`((?:src|plugins|test|docs|config)\/[^`]+)`/g)].flatMap(([, path = '']) =>
    alternatives(path),
  );
}

function alternatives(path: string): readonly string[] {
  const [all, names] = /\{([^}]+)\}/.exec(path) ?? [];
  return all === undefined || names === undefined ? [path] : names.split(',').map((name) => path.replace(all, name));
}

async function exists(path: string): Promise<boolean> {
  const pattern = path.replaceAll(/<[^>]+>/g, '*').replace(/\/$/, '');
  for await (const found of glob(pattern, { cwd: root })) if (found !== '') return true;
  return false;
}

it('names no file that is gone in the table of changes', async () => {
  const paths = await pathsOfChanges();
  expect(paths.length).toBeGreaterThan(25);
  const gone = await Promise.all(paths.map(async (path) => ((await exists(path)) ? [] : [path])));
  expect(gone.flat()).toEqual([]);
});

it('would notice one', async () => {
  expect(await exists('src/tools/<name>.ts')).toBe(true);
  expect(alternatives('src/cli/{index,none}.ts')).toEqual(['src/cli/index.ts', 'src/cli/none.ts']);
  expect(await exists('src/cli/none.ts')).toBe(false);
});
