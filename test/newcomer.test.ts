import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { removeDirectory, root, temporaryDirectory } from './support/gateway.ts';

const run = promisify(execFile);

/*
 * What the README promises a newcomer, on a machine that has npm and nothing to compile with: a copy of the checkout, a
 * PATH of only node, npm and a shell, the two commands, and the printed commands pasted into that shell.
 */

/** What a bare machine has. No python, no make, no compiler, no git. */
const bare = [
  'sh',
  'env',
  'curl',
  'sed',
  'uname',
  'ldd',
  'getconf',
  'dirname',
  'basename',
  'readlink',
  'cat',
  'rm',
  'ls',
];

async function which(name: string): Promise<string | undefined> {
  const found = await run('sh', ['-c', `command -v ${name}`]).catch(() => undefined);
  return found?.stdout.trim() || undefined;
}

describe('a newcomer with npm alone', () => {
  let directory = '';
  let checkout = '';
  let env: NodeJS.ProcessEnv = {};
  let gateway: ChildProcess | undefined;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    checkout = join(directory, 'checkout');
    const bin = join(directory, 'bin');
    await mkdir(bin);
    for (const name of bare) {
      const path = await which(name);
      if (path !== undefined) await symlink(path, join(bin, name));
    }
    // The machine's own Node and npm, whatever their versions; not the Node of this checkout, which runs this test.
    const others = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
    for (const name of ['node', 'npm']) {
      const { stdout } = await run('sh', ['-c', `command -v ${name}`], { env: { PATH: others.join(delimiter) } });
      await symlink(stdout.trim(), join(bin, name));
    }
    env = {
      PATH: bin,
      HOME: directory,
      // The packages and the registry's settings that the checkout's own installation had.
      npm_config_cache: (await run('npm', ['config', 'get', 'cache'])).stdout.trim(),
      npm_config_registry: (await run('npm', ['config', 'get', 'registry'])).stdout.trim(),
      npm_config_prefer_offline: 'true',
    };
    for (const name of ['python3', 'python', 'g++', 'gcc', 'cc', 'make']) {
      await expect(run('sh', ['-c', `command -v ${name}`], { env })).rejects.toThrow();
    }
    const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const path of stdout.split('\n').filter(Boolean)) {
      await mkdir(dirname(join(checkout, path)), { recursive: true });
      await copyFile(join(root, path), join(checkout, path));
    }
  });

  afterAll(async () => {
    if (gateway?.exitCode === null) {
      gateway.kill('SIGTERM');
      await once(gateway, 'exit');
    }
    await removeDirectory(directory);
  });

  it('installs', async () => {
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout, env, maxBuffer: 10_000_000 });
    expect((await run(join(checkout, 'node_modules/.bin/node'), ['--version'], { env })).stdout).toMatch(/^v24\./);
  }, 300_000);

  async function start(): Promise<() => string> {
    // npm hands no signal on to a shell's child, so the gateway is run as the script runs it.
    const { scripts } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'));
    const child = spawn('sh', ['-c', `exec ${String(scripts.start)} --port 0`], {
      cwd: checkout,
      env: { ...env, PATH: `${join(checkout, 'node_modules/.bin')}${delimiter}${env['PATH']}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    gateway = child;
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    for (let attempt = 0; attempt < 600 && !output.includes('config'); attempt += 1) {
      if (child.exitCode !== null) throw new Error(output);
      await delay(50);
    }
    return () => output;
  }

  it('starts it, and each of the three printed commands works as printed', async () => {
    const output = await start();
    for (let attempt = 0; attempt < 600 && !output().includes('"name":"query_otel"'); attempt += 1) await delay(50);
    expect(output()).toMatch(/Sightline listens at http:\/\/127\.0\.0\.1:\d+\/mcp/);
    expect(output().match(/client_secret {2,}\S+/g)).toHaveLength(1);
    const commands = output().slice(output().indexOf('# 1.'));
    const { stdout } = await run('sh', ['-c', commands.replaceAll(/^\{.*\}$/gm, '')], { env, maxBuffer: 10_000_000 });
    const [token = '', tools = '', answer = ''] = stdout.trim().split(/\n|(?<=\})(?=\{"jsonrpc")/);
    expect(token.split('.')).toHaveLength(3);
    expect(tools).toContain('"name":"send_chat_reply"');
    expect(answer).toContain('checkout');
    expect(answer).toContain('"truncated":false');
  }, 120_000);

  it('finds the workspace again at the second start, and prints no secret', async () => {
    gateway?.kill('SIGTERM');
    if (gateway?.exitCode === null) await once(gateway, 'exit');
    const output = await start();
    await delay(500);
    expect(output()).toContain('Sightline listens at');
    expect(output()).not.toMatch(/client_secret|aks_/);
  });
});
