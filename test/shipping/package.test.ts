import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { callTool } from '../support/call.ts';
import { credentials, exchange, removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { cleanEnvironment, copyCheckout } from './support/checkout.ts';

const run = promisify(execFile);
const packedShape = z.tuple([
  z.object({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
]);
const announcement = z.object({ pid: z.number(), url: z.string() });

const MB = 1e6;
const minutes = 60_000;

describe('the package that npm packs', () => {
  let directory = '';
  let packed: z.output<typeof packedShape>[0];
  const project = (...path: string[]): string => join(directory, 'project', ...path);

  async function npx(...args: string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return run('npx', ['--no-install', 'sightline', ...args], { cwd: project(), env: cleanEnvironment() });
  }

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const checkout = join(directory, 'checkout');
    await copyCheckout(checkout, { dependencies: true });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], {
      cwd: checkout,
      env: cleanEnvironment(),
      maxBuffer: 10 * MB,
    });
    // Before it npm prints what the build says.
    [packed] = packedShape.parse(JSON.parse(stdout.slice(stdout.indexOf('[\n'))));
    await mkdir(project());
    await writeFile(project('package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
    const tarball = join(directory, packed.filename);
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball], {
      cwd: project(),
      env: cleanEnvironment(),
      maxBuffer: 10 * MB,
    });
  }, 10 * minutes);

  afterAll(() => removeDirectory(directory));

  it('is small, and holds what runs and what is read: no sources, no tests, nothing of the tests', () => {
    process.stdout.write(
      `package: ${packed.size} bytes packed, ${packed.unpackedSize} unpacked, ${packed.files.length} files\n`,
    );
    expect(packed.size).toBeLessThan(1.5 * MB);
    expect(packed.unpackedSize).toBeLessThan(6 * MB);
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'bin/sightline.js', 'config/sightline.schema.json']),
    );
    const allowed =
      /^(bin\/|dist\/(src|plugins|test\/contract)\/.*\.js$|dist\/(src|test\/contract)\/.*\.d\.ts$|config\/|docs\/|examples\/|deploy\/|[^/]+$)/;
    expect(paths.filter((path) => !allowed.test(path) || /\.test\.|\/support\/|\/golden\//.test(path))).toEqual([]);
  });

  it('runs as npx sightline', async () => {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    expect((await npx('--version')).stdout.trim()).toBe(version);
    expect((await npx('--help')).stdout).toContain('Usage: sightline');
    const { stdout } = await npx('config', 'schema');
    expect(stdout).toBe(await readFile(join(root, 'config/sightline.schema.json'), 'utf8'));
  });

  it(
    'serves, with a plugin of the project that stands on its contract',
    async () => {
      await cp(join(root, 'examples/custom-agent/slowest-operations.ts'), project('slowest-operations.ts'));
      await writeFile(project('sightline.config.yaml'), 'agent:\n  plugin: ./slowest-operations.ts\n');
      await npx('org', 'create', 'acme');
      const key = credentials.parse(
        JSON.parse((await npx('key', 'create', '--org', 'acme', '--name', 'test', '--scopes', 'all', '--json')).stdout),
      );
      const child = spawn('npx', ['--no-install', 'sightline', 'serve', '--no-demo', '--port', '0'], {
        cwd: project(),
        env: cleanEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => (output += String(chunk)));
      child.stderr.on('data', (chunk) => (output += String(chunk)));
      const ended = once(child, 'close');
      const gateway = await announced(() => (child.exitCode === null ? undefined : output));
      try {
        const token = await exchange(gateway.url, key);
        const answer = await callTool(gateway.url, token, 'query_otel', { sql: 'SELECT count(*) FROM otel.spans' });
        expect(answer).toMatchObject({ isError: false, structured: { rows: [['0']] } });
        const started = await callTool(gateway.url, token, 'start_chat', { message: 'What is slow?' });
        const { chat_id } = z.object({ chat_id: z.string() }).parse(started.structured);
        const read = await callTool(gateway.url, token, 'read_chat', { chat_id, wait_seconds: 25 });
        expect(read.text).toContain('There are no spans.');
      } finally {
        process.kill(gateway.pid, 'SIGTERM');
      }
      expect(await ended).toEqual([0, null]);
    },
    3 * minutes,
  );

  it(
    'has types for the authors of plugins',
    async () => {
      await writeFile(
        project('uses.ts'),
        [
          `import { definePlugin, SightlineError } from 'sightline/contract/core';`,
          `import type { Agent } from 'sightline/contract/agent';`,
          `import { agentContract } from 'sightline/contract-tests';`,
          `import { createGateway } from 'sightline/gateway';`,
          `import type { Gateway } from 'sightline/gateway';`,
          `import { telemetryHost } from 'sightline/telemetry-host';`,
          `export const made: Promise<Gateway> = createGateway({});`,
          `export const used = [definePlugin, SightlineError, agentContract, telemetryHost] as const;`,
          `// @ts-expect-error an engine is a string`,
          `export const wrong: Agent['engine'] = 1;`,
          `// @ts-expect-error a URL is a string`,
          `export const url: Gateway['url'] = 1;`,
          `// @ts-expect-error it wants a host`,
          `export const host = telemetryHost();`,
        ].join('\n'),
      );
      await writeFile(
        project('tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            target: 'es2024',
            lib: ['es2024', 'esnext.disposable'],
            module: 'nodenext',
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            types: ['node'],
            typeRoots: [join(root, 'node_modules/@types')],
          },
          files: ['uses.ts', 'slowest-operations.ts'],
        }),
      );
      await cp(join(root, 'examples/custom-agent/slowest-operations.ts'), project('slowest-operations.ts'));
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const checked = await run(process.execPath, [tsc, '-p', project()]).catch(
        (failure: { stdout: string }) => failure,
      );
      expect(checked.stdout).toBe('');
      // Of an agent the contract has types alone.
      const kinds = ['core', 'storage', 'telemetry', 'issuer', 'alerts'].map((kind) => `contract/${kind}`);
      const loaded = [...kinds, 'contract-tests', 'gateway', 'telemetry-host'].map((name) => `sightline/${name}`);
      const script = `for (const name of ${JSON.stringify(loaded)}) console.log(Object.keys(await import(name)).length > 0)`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: project() });
      expect(stdout).toBe('true\n'.repeat(loaded.length));
    },
    3 * minutes,
  );

  /** @param over what was printed, once it has ended. */
  async function announced(over: () => string | undefined): Promise<z.output<typeof announcement>> {
    for (let attempt = 0; attempt < 1_200; attempt += 1) {
      const output = over();
      if (output !== undefined) throw new Error(`the gateway did not start:\n${output}`);
      try {
        const found = announcement.parse(JSON.parse(await readFile(project('.sightline/gateway.json'), 'utf8')));
        if ((await fetch(`${found.url}/readyz`)).ok) return found;
      } catch {
        // Not yet.
      }
      await delay(50);
    }
    throw new Error('the gateway was not ready within a minute');
  }
});
