import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apart } from './apart.ts';
import type { Form } from './form.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** By these a test gets whole gateways, which may have workers, … */
const ofGateways: readonly string[] = ['test/support/gateway.ts', 'test/support/cli.ts'];
/** … or stores for what it makes in its own process. */
const ofStores = 'test/support/stores.ts';

/** Every test file in test/ and plugins/, and whether it starts gateways or opens stores by the support. */
export async function testFiles(): Promise<ReadonlyMap<string, 'gateways' | 'stores' | 'neither'>> {
  const found = new Map<string, 'gateways' | 'stores' | 'neither'>();
  const imports = new Map<string, Promise<readonly string[]>>();
  for (const folder of ['plugins', 'test']) {
    const names = await readdir(join(root, folder), { recursive: true });
    for (const name of names.filter((each) => each.endsWith('.test.ts')).toSorted()) {
      const file = `${folder}/${name}`;
      const reached = new Set<string>();
      await follow(file, reached, imports);
      const gateways = ofGateways.some((entrance) => reached.has(entrance));
      found.set(file, gateways ? 'gateways' : reached.has(ofStores) ? 'stores' : 'neither');
    }
  }
  return found;
}

/** The files that are run in a form. */
export async function filesOf(form: Form): Promise<readonly string[]> {
  const out = new Set(apart.flatMap(({ file, forms }) => (forms.includes(form) ? [file] : [])));
  return [...(await testFiles())].flatMap(([file, uses]) =>
    (uses === 'gateways' || (uses === 'stores' && form !== 'workers')) && !out.has(file) ? [file] : [],
  );
}

async function follow(
  file: string,
  reached: Set<string>,
  imports: Map<string, Promise<readonly string[]>>,
): Promise<void> {
  const read = imports.get(file) ?? importsOf(file);
  imports.set(file, read);
  for (const next of await read) {
    if (reached.has(next)) continue;
    reached.add(next);
    await follow(next, reached, imports);
  }
}

async function importsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(join(root, file), 'utf8');
  const names = [...text.matchAll(/^(?:import [^'`\n]*from |\} from |.*\bimport\()'(\.[^']+\.ts)'/gm)].map(
    ([, name = '']) => name,
  );
  return names.map((name) => relative(root, resolve(root, dirname(file), name)));
}
