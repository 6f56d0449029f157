import { expect, it } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { root } from './support/gateway.ts';

const notProduction = /\.test\.ts$|\/(support|golden|samples)\//;

async function productionFiles(): Promise<string[]> {
  const folders = await Promise.all(
    ['src', 'plugins'].map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true })).map((path) => `${folder}/${path}`),
    ),
  );
  return folders.flat().filter((path) => path.endsWith('.ts') && !notProduction.test(path));
}

/** What each file imports, types included: `import/no-cycle` of the linter sees values alone. */
async function importsOf(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Set(files);
  const entries = files.map(async (file) => {
    const text = await readFile(join(root, file), 'utf8');
    const named = [...text.matchAll(/^(?:import|export)\s[^;'"]*?from\s+'(\.[^']+)'/gm)];
    const paths = named.map(([, path = '']) => normalize(join(dirname(file), path)));
    return [file, paths.filter((path) => known.has(path))] as const;
  });
  return new Map(await Promise.all(entries));
}

/** The first circle found, as the files on it; none where there is none. */
function circle(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const way: string[] = [];
  const follow = (file: string): readonly string[] | undefined => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    way.push(file);
    for (const next of imports.get(file) ?? []) {
      const found = follow(next);
      if (found) return found;
    }
    way.pop();
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const found = follow(file);
    if (found) return found;
  }
  return [];
}

it('has no circle of imports, types included', async () => {
  expect(circle(await importsOf(await productionFiles()))).toEqual([]);
});

it('would find one', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ]);
  expect(circle(imports)).toEqual(['b', 'c', 'b']);
});
