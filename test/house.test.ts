import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { removeDirectory, root, sightline, temporaryDirectory } from './support/gateway.ts';

const run = promisify(execFile);

async function trackedFiles(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return stdout.split('\n').filter((path) => path !== '');
}

/** What oxlint says about one file planted in an otherwise empty copy of the house. */
async function lintPlanted(path: string, text: string): Promise<string> {
  const house = await temporaryDirectory();
  try {
    await cp(join(root, '.oxlintrc.json'), join(house, '.oxlintrc.json'));
    await symlink(join(root, 'node_modules'), join(house, 'node_modules'));
    for (const file of [
      'src/gateway/process/logger.ts',
      'src/contract/index.ts',
      'src/gateway/wiring/index.ts',
      'plugins/other-one/index.ts',
    ]) {
      await mkdir(dirname(join(house, file)), { recursive: true });
      await writeFile(join(house, file), 'export const thing = 1;\n');
    }
    await mkdir(dirname(join(house, path)), { recursive: true });
    await writeFile(join(house, path), text);
    const { stdout } = await run(process.execPath, [join(root, 'node_modules/oxlint/bin/oxlint'), '-f', 'unix'], {
      cwd: house,
    }).catch((failure: { stdout: string }) => failure);
    return stdout;
  } finally {
    await removeDirectory(house);
  }
}

const use = 'export const used = [thing];\n';

describe('the import rules', () => {
  it.each([
    [
      'a plugin and another plugin',
      'plugins/storage-x/index.ts',
      `import { thing } from '../other-one/index.ts';\n${use}`,
    ],
    [
      'a plugin and the core',
      'plugins/storage-x/index.ts',
      `import { thing } from '../../src/gateway/process/logger.ts';\n${use}`,
    ],
    [
      'the core and a plugin',
      'src/telemetry/query/x.ts',
      `import { thing } from '../../../plugins/other-one/index.ts';\n${use}`,
    ],
    [
      'the contract and the gateway',
      'src/contract/x.ts',
      `import { thing } from '../gateway/process/logger.ts';\n${use}`,
    ],
    ['the tools and the gateway', 'src/tools/x.ts', `import { thing } from '../gateway/process/logger.ts';\n${use}`],
    [
      'a domain and the room above it',
      'src/identity/verify/x.ts',
      `import { thing } from '../../gateway/process/logger.ts';\n${use}`,
    ],
  ])('forbid one between %s', async (_name, path, text) => {
    expect(await lintPlanted(path, text)).toContain('boundaries(dependencies)');
  });

  it.each([
    ['awilix', 'src/gateway/process/x.ts'],
    ['express', 'src/mcp/x.ts'],
    ['knex', 'src/identity/verify/x.ts'],
    ['oidc-provider', 'src/gateway/http/x.ts'],
    ['@duckdb/node-api', 'plugins/agent-x/index.ts'],
  ])('keep %s out of %s', async (library, path) => {
    expect(await lintPlanted(path, `import * as thing from '${library}';\n${use}`)).toContain('no-restricted-imports');
  });

  it('allow what ARCHITECTURE allows', async () => {
    expect(
      await lintPlanted(
        'plugins/storage-x/index.ts',
        `import { thing } from '../../src/contract/core/index.ts';\n${use}`,
      ),
    ).not.toContain('Error');
    expect(
      await lintPlanted('src/cli/x.ts', `import { thing } from '../gateway/wiring/index.ts';\n${use}`),
    ).not.toContain('Error');
  });
});

describe('the house', () => {
  it('names every plugin folder kind-name, and its index says the same', async () => {
    for (const folder of await readdir(join(root, 'plugins'))) {
      const definition = await readFile(join(root, 'plugins', folder, 'index.ts'), 'utf8');
      const [, kind, name] = /^(storage|issuer|telemetry|agent|alerts)-([a-z]+)$/.exec(folder) ?? [];
      expect(definition).toContain(`kind: '${kind}'`);
      expect(definition).toContain(`name: '${name}'`);
    }
  });

  it('ends the process in one place only', async () => {
    const offenders: string[] = [];
    for (const path of await trackedFiles()) {
      if (!/^(src|plugins)\/.*\.ts$/.test(path) || path.endsWith('.test.ts') || path.includes('/support/')) continue;
      const text = await readFile(join(root, path), 'utf8');
      if (text.includes('process.exit(')) offenders.push(path);
    }
    // The DuckDB engine is a process of its own.
    expect(offenders.filter((path) => !path.startsWith('plugins/telemetry-duckdb/engine/'))).toEqual(['src/main.ts']);
  });

  it('keeps files short: few over 250 lines, none over 500', async () => {
    const lengths: Record<string, number> = {};
    for (const path of await trackedFiles()) {
      if (!/^(src|plugins)\/.*\.ts$/.test(path) || path.endsWith('.test.ts') || path.includes('/support/')) continue;
      lengths[path] = (await readFile(join(root, path), 'utf8')).split('\n').length;
    }
    const long = Object.entries(lengths).filter(([, lines]) => lines > 250);
    expect(long.filter(([, lines]) => lines > 500)).toEqual([]);
    expect(long.length / Object.keys(lengths).length).toBeLessThan(0.08);
  });

  it('pins every dependency exactly', async () => {
    const manifest: Record<string, Record<string, string>> = JSON.parse(
      await readFile(join(root, 'package.json'), 'utf8'),
    );
    const loose = Object.entries({ ...manifest['dependencies'], ...manifest['devDependencies'] }).filter(
      ([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  it('has the JSON Schema of its configuration as committed', async () => {
    const directory = await temporaryDirectory();
    try {
      const { stdout } = await sightline(directory, ['config', 'schema']);
      expect(stdout).toBe(await readFile(join(root, 'config', 'sightline.schema.json'), 'utf8'));
    } finally {
      await removeDirectory(directory);
    }
  });
});

describe('the hot path', () => {
  /**
   * `{ get x() { … } }` makes a hidden class for each object: every read of it is slow, and V8 keeps all that it reaches until
   * the next full collection. It cost a call some 11 kB that outlived it.
   */
  const literalGetter = /^ {4,}get \w+\(\)/m;

  it('makes no object with getters by a literal: a class does', async () => {
    const files = (await trackedFiles()).filter(
      (path) =>
        /^(?:src\/(?:mcp|telemetry\/query)|plugins\/telemetry-[^/]+)\/.*\.ts$/.test(path) && !path.endsWith('.test.ts'),
    );
    const texts = await Promise.all(
      files.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const),
    );
    expect(texts.filter(([, text]) => literalGetter.test(text)).map(([path]) => path)).toEqual([]);
    expect(literalGetter.test('  return {\n    get end() {\n')).toBe(true);
    expect(files.length).toBeGreaterThan(100);
  });
});
