import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, mkdir, readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { callTool } from '../support/call.ts';
import { credentials, exchange, removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { freePort } from '../support/listen.ts';
import { until } from '../support/workers.ts';
import { cleanEnvironment } from './support/checkout.ts';
import { nodeOptions } from '../support/start-command.ts';
import { copyContext, followDockerfile, type Image } from './support/dockerfile.ts';

/*
 * The Dockerfile followed step by step without Docker, with what would be different in a container made so: the files
 * belong to another user and cannot be written, and one directory can.
 */

const run = promisify(execFile);
const minutes = 60_000;
const asRoot = process.getuid?.() === 0;
/** Nobody, where this may be chosen. The container's user in its place: not root, and not who made the files. */
const stranger = asRoot ? { uid: 65_534, gid: 65_534 } : {};

describe('the image', () => {
  let directory = '';
  let image: Image;
  let env: NodeJS.ProcessEnv = {};
  let port = 0;

  const inImage = (path: string): string => join(image.root, path);

  async function sightline(...args: string[]): Promise<string> {
    const [command = '', ...first] = image.entrypoint;
    const { stdout } = await run(command, [...first, ...args], {
      cwd: inImage(image.workingDirectory),
      env,
      ...stranger,
    });
    return stdout;
  }

  async function check(): Promise<number> {
    const [command = '', ...args] = image.healthcheck;
    const child = spawn(command, args, { env, stdio: 'ignore', ...stranger });
    await once(child, 'exit');
    return child.exitCode ?? -1;
  }

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await chmod(directory, 0o755);
    const context = join(directory, 'context');
    await mkdir(context);
    await copyContext(context);
    image = await followDockerfile(context, directory);
    port = await freePort();
    // Where the image's paths are on this machine.
    env = cleanEnvironment({
      ...image.env,
      SIGHTLINE_CONFIG: inImage(image.env['SIGHTLINE_CONFIG'] ?? ''),
      SIGHTLINE_DATA: inImage(image.env['SIGHTLINE_DATA'] ?? ''),
      SIGHTLINE_PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      HOME: '/nonexistent',
      TMPDIR: '/nonexistent',
    });
    const [volume = ''] = image.volumes;
    await run('chmod', ['-R', 'a-w,a+rX', inImage('opt'), inImage('etc')]);
    await chmod(inImage(volume), 0o700);
    if (stranger.uid !== undefined) await chown(inImage(volume), stranger.uid, stranger.gid);
  }, 10 * minutes);

  afterAll(async () => {
    await run('chmod', ['-R', 'u+w', directory]);
    await removeDirectory(directory);
  });

  it('is of the Node that the tests run on, small, and run by a user who is not root', async () => {
    const { devDependencies } = z
      .object({ devDependencies: z.object({ node: z.string() }) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    expect(image.from).toBe(`node:${devDependencies.node}-bookworm-slim`);
    expect(image.entrypoint).toEqual(['node', ...nodeOptions, 'bin/sightline.js']);
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const { stdout } = await run('du', ['-sk', image.root]);
    process.stdout.write(`image: ${stdout.split('\t', 1)[0]} KiB above its base\n`);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(250_000);
  });

  it('holds neither tests nor secrets nor tools of development', async () => {
    const own = await readdir(inImage(image.workingDirectory));
    expect(own.toSorted()).toEqual(['LICENSE', 'bin', 'node_modules', 'package.json', 'plugins', 'src']);
    const sources = await readdir(inImage(join(image.workingDirectory, 'src')), { recursive: true });
    expect(sources.filter((path) => /\.test\.|(^|\/)support(\/|$)/.test(path))).toEqual([]);
    await expect(access(inImage(join(image.workingDirectory, 'node_modules/jest')))).rejects.toThrow('ENOENT');
  });

  it(
    'serves from a file system that cannot be written, but for one volume, and ends by SIGTERM',
    async () => {
      await expect(check()).resolves.toBe(1);
      await sightline('org', 'create', 'acme');
      const key = credentials.parse(
        JSON.parse(await sightline('key', 'create', '--org', 'acme', '--name', 'test', '--scopes', 'all', '--json')),
      );
      const [command = '', ...first] = image.entrypoint;
      const child: ChildProcess = spawn(command, [...first, ...image.command], {
        cwd: inImage(image.workingDirectory),
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...stranger,
      });
      let output = '';
      child.stdout?.on('data', (chunk) => (output += String(chunk)));
      child.stderr?.on('data', (chunk) => (output += String(chunk)));
      const ended = once(child, 'close');
      try {
        await until('the health check says yes', async () => {
          if (child.exitCode !== null) throw new Error(`it ended:\n${output}`);
          return (await check()) === 0;
        });
        const url = `http://127.0.0.1:${port}`;
        const answer = await callTool(url, await exchange(url, key), 'query_otel', {
          sql: 'SELECT count(*) FROM otel.spans',
        });
        expect(answer).toMatchObject({ isError: false, structured: { rows: [['0']] } });
      } finally {
        child.kill('SIGTERM');
      }
      expect(await ended).toEqual([0, null]);
      const data = env['SIGHTLINE_DATA'] ?? '';
      expect((await stat(data)).mode & 0o777).toBe(0o700);
      expect(await readdir(dirname(data))).toEqual(['data']);
    },
    4 * minutes,
  );

  it('cannot be written by who runs it', async () => {
    const script = `require('fs').writeFileSync(${JSON.stringify(inImage('opt/sightline/bin/planted.js'))}, '')`;
    await expect(run(process.execPath, ['-e', script], { env, ...stranger })).rejects.toThrow('EACCES');
  });
});
