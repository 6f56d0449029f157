import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const script = join(import.meta.dirname, 'support', 'out-of-files.ts');

describe('an engine that cannot be started', () => {
  it('for want of a file to open is an error to its caller, and not the end of the gateway', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sl-files-'));
    try {
      const child = spawn('/bin/sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, script, directory], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk) => (stdout += String(chunk)));
      child.stderr.on('data', (chunk) => (stderr += String(chunk)));
      await once(child, 'close');
      expect({ code: child.exitCode, stdout, crashed: stderr.includes('spawn') }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^the engine process does not start/),
        crashed: false,
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('the start of an engine', () => {
  it('loads no zod: each organization pays for it, and where they take turns each load does', async () => {
    const engine = new URL('./engine/server.ts', import.meta.url).href;
    const look = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      await import(${JSON.stringify(engine)});
      process.stdout.write(JSON.stringify(loaded));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', look]);
    const loaded: unknown = JSON.parse(stdout);
    expect(loaded).toContain(engine);
    expect(JSON.stringify(loaded)).not.toContain('node_modules/zod/');
  });
});
