import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { callTool } from '../support/call.ts';
import { credentials, exchange, removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { freePort } from '../support/listen.ts';
import { until } from '../support/workers.ts';
import { nodeOptions } from '../support/start-command.ts';
import { cleanEnvironment } from './support/checkout.ts';

const run = promisify(execFile);
const minutes = 60_000;
const reportShape = z.object({
  name: z.string(),
  version: z.string(),
  commit: z.string(),
  artifacts: z.array(z.object({ file: z.string(), bytes: z.int(), sha256: z.string() })),
});
type Report = z.output<typeof reportShape>;
const imageShape = z.object({
  OCIv1: z.object({
    config: z.object({
      User: z.string(),
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      Volumes: z.record(z.string(), z.unknown()),
    }),
  }),
});

const hasTools = await hasImageTools();

async function hasImageTools(): Promise<boolean> {
  for (const tool of ['buildah', 'mmdebstrap']) {
    try {
      await run(tool, ['--version']);
    } catch (error) {
      if (process.env['REQUIRE_SERVICES'] === '1') throw error;
      process.stderr.write(`not run: the image of a release, as there is no ${tool}\n`);
      return false;
    }
  }
  return true;
}

/** A clone, so that the release of the checkout itself stays as it is. It is of the last commit. */
describe('a release', () => {
  let directory = '';
  let first: Report;
  const clone = (...path: string[]): string => join(directory, 'clone', ...path);
  const kept = (...path: string[]): string => join(directory, 'kept', ...path);

  async function release(...args: string[]): Promise<{ readonly report: Report; readonly progress: string }> {
    const { stdout, stderr } = await run('npm', ['run', '-s', 'release', '--', '--json', ...args], {
      cwd: clone(),
      env: cleanEnvironment(),
    });
    return { report: reportShape.parse(JSON.parse(stdout)), progress: stderr };
  }

  const buildah = (...args: string[]) => {
    const places = ['--root', join(directory, 'images'), '--runroot', join(directory, 'run')];
    return [...places, '--storage-driver', 'vfs', ...args];
  };

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await run('git', ['clone', '--quiet', '--shared', root, clone()]);
    await symlink(join(root, 'node_modules'), clone('node_modules'));
    const made = await release('--scope', '@acme', ...(hasTools ? [] : ['--without-image']));
    process.stdout.write(made.progress);
    first = made.report;
    await rename(clone('release'), kept());
  }, 10 * minutes);

  afterAll(() => removeDirectory(directory));

  it('lists what is in its directory, with sums that sha256sum checks', async () => {
    const files = first.artifacts.map(({ file }) => file);
    expect((await readdir(kept())).toSorted()).toEqual(['SHA256SUMS', ...files].toSorted());
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: kept() });
    expect(stdout).toBe(files.map((file) => `${file}: OK\n`).join(''));
    for (const { file, bytes } of first.artifacts) expect((await stat(kept(file))).size).toBe(bytes);
    const { stdout: head } = await run('git', ['rev-parse', 'HEAD'], { cwd: clone() });
    expect(first).toMatchObject({ name: '@acme/sightline', commit: head.trim() });
  });

  it('has the scope in the package and its bill of materials, and the chart in a folder of its name', async () => {
    const { version } = first;
    const read = async (file: string, member: string): Promise<string> =>
      (await run('tar', ['-xzOf', kept(file), member], { maxBuffer: 10_000_000 })).stdout;
    const manifest = JSON.parse(await read(`acme-sightline-${version}.tgz`, 'package/package.json'));
    expect(manifest).toMatchObject({ name: '@acme/sightline', version, bin: { sightline: 'bin/sightline.js' } });
    const bom: unknown = JSON.parse(await readFile(kept(`sightline-${version}.cdx.json`), 'utf8'));
    expect(bom).toMatchObject({ metadata: { component: { purl: `pkg:npm/%40acme/sightline@${version}` } } });
    const chart = `sightline-chart-${version}.tgz`;
    expect(await read(chart, 'sightline/Chart.yaml')).toContain(`version: ${version}\n`);
    const { stdout } = await run('tar', ['-tzf', kept(chart)]);
    expect(stdout.split('\n').filter((path) => path !== '' && !path.startsWith('sightline/'))).toEqual([]);
  });

  it(
    'is the same bytes when it is made again',
    async () => {
      const image = (file: string): boolean => file.endsWith('.oci.tar');
      const before = first.artifacts.filter(({ file }) => !image(file));
      expect(before).toHaveLength(3);
      expect((await release('--scope', '@acme', '--without-image')).report.artifacts).toEqual(before);
    },
    5 * minutes,
  );

  it('refuses what it does not know, and leaves the release of before', async () => {
    await mkdir(clone('release'), { recursive: true });
    await writeFile(clone('release/before'), '');
    for (const [args, message] of [
      [['--scope', 'acme'], 'must be a scope of npm, such as @acme'],
      [['--scoop', '@acme'], 'Usage: npm run release -- [--scope @acme] [--without-image] [--json]'],
    ] as const) {
      const failed = await run(process.execPath, ['deploy/release.ts', ...args], { cwd: clone() }).catch(
        (error: unknown) => error,
      );
      expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    }
    // Without the programs that make an image, before anything is built.
    const bare = { PATH: join(root, 'node_modules/node/bin') };
    const failed = await run(process.execPath, ['deploy/release.ts'], { cwd: clone(), env: bare }).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('apt-get install buildah mmdebstrap. Or'),
    });
  });

  (hasTools ? describe : describe.skip)('its image', () => {
    const dataDirectory = '/var/lib/sightline/data';
    let container = '';
    let config: z.output<typeof imageShape>['OCIv1']['config'];
    let port = 0;

    /** In a container of it, which is on the network of this machine. */
    const inside = (...command: string[]): string[] => {
      const settings = ['--env', `SIGHTLINE_PORT=${port}`, '--env', `PUBLIC_URL=http://127.0.0.1:${port}`];
      return buildah('run', '--isolation', 'chroot', '--network', 'host', ...settings, container, '--', ...command);
    };
    const printed = async (...command: string[]): Promise<string> => (await run('buildah', inside(...command))).stdout;
    const isHealthy = async (): Promise<boolean> => {
      const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
      const check = z.array(z.string()).parse(JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? ''));
      return run('buildah', inside(...check)).then(
        () => true,
        () => false,
      );
    };

    beforeAll(async () => {
      port = await freePort();
      const file = first.artifacts.find((artifact) => artifact.file.endsWith('.oci.tar'))?.file ?? '';
      container = (await run('buildah', buildah('from', '-q', `oci-archive:${kept(file)}`))).stdout.trim();
      const inspected = await run('buildah', buildah('inspect', container), { maxBuffer: 10_000_000 });
      config = imageShape.parse(JSON.parse(inspected.stdout)).OCIv1.config;
    }, 5 * minutes);

    it('is of the Node that the tests run on, small, and holds neither tests nor tools of development', async () => {
      expect(await printed('node', '--version')).toBe(`${process.version}\n`);
      const size = Number.parseInt(await printed('du', '-sk', '/opt'), 10);
      process.stdout.write(`image: ${size} KiB above its base\n`);
      expect(size).toBeLessThan(250_000);
      const own = (await printed('ls', '/opt/sightline')).trim().split('\n');
      expect(own).toEqual(['LICENSE', 'bin', 'node_modules', 'package.json', 'plugins', 'src']);
      const sources = (await printed('find', '/opt/sightline/src', '/opt/sightline/plugins')).split('\n');
      expect(sources).toContain('/opt/sightline/src/main.ts');
      expect(sources.filter((path) => /\.test\.|\/support(\/|$)/.test(path))).toEqual([]);
      expect(await printed('sh', '-c', 'command -v npm; ls -d node_modules/jest 2> /dev/null; true')).toBe('');
    });

    it('is run by a user who is not root and can write nothing of it but one volume', async () => {
      expect(config).toMatchObject({
        User: '1000:1000',
        Entrypoint: ['node', ...nodeOptions, 'bin/sightline.js'],
        Cmd: ['serve', '--no-demo'],
      });
      expect(config.Volumes).toEqual({ [dirname(dataDirectory)]: {} });
      expect(await printed('id', '-u')).toBe('1000\n');
      // What it may not even list it cannot write in either.
      const writable = await printed('sh', '-c', 'find /opt /etc /usr /var/lib -writable ! -type l 2> /dev/null; true');
      expect(writable).toBe(`${dirname(dataDirectory)}\n`);
    });

    it(
      'serves from nothing to the first right answer, and ends by SIGTERM',
      async () => {
        expect(await isHealthy()).toBe(false);
        // As the README says it: with the demo.
        const child = spawn('buildah', inside(...config.Entrypoint, 'serve'), {
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const ended = once(child, 'close');
        let output = '';
        child.stdout.on('data', (chunk) => (output += String(chunk)));
        child.stderr.on('data', (chunk) => (output += String(chunk)));
        const url = `http://127.0.0.1:${port}`;
        try {
          await until('the health check says yes', async () => {
            if (child.exitCode !== null) throw new Error(`it ended:\n${output}`);
            return isHealthy();
          });
          const command = ['key', 'create', '--org', 'default', '--name', 'test', '--scopes', 'all', '--json'];
          const key = credentials.parse(JSON.parse(await printed(...config.Entrypoint, ...command)));
          const token = await exchange(url, key);
          const incidents = async () => (await callTool(url, token, 'list_incidents', {})).structured;
          await until('the demo has its incident', async () => JSON.stringify(await incidents()).includes('INC-1'));
          await until('the incident has its cause', async () => JSON.stringify(await incidents()).includes('"cause":'));
          expect(await incidents()).toMatchObject({ incidents: [{ key: 'INC-1', cause: { service: 'payment' } }] });
        } finally {
          // Of the gateway, since buildah passes no signal on.
          const stop = `process.kill(JSON.parse(require('fs').readFileSync('${dataDirectory}/gateway.json')).pid)`;
          await printed('node', '-e', stop);
        }
        expect(await ended).toEqual([0, null]);
        expect(await printed('stat', '-c', '%a', dataDirectory)).toBe('700\n');
      },
      5 * minutes,
    );
  });
});
