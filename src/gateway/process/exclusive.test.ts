import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdExclusively, readHolder } from './exclusive.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-hold-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the hold on a data directory', () => {
  it('belongs to one at a time, and the refusal names the holder', () => {
    const first = holdExclusively(directory);
    first.announce('http://127.0.0.1:8080');
    expect(() => holdExclusively(directory)).toThrow(
      `in use by process ${process.pid}, which answers at http://127.0.0.1:8080`,
    );
    first.release();
    first.release();
    expect(readHolder(directory)).toBeUndefined();
    holdExclusively(directory).release();
  });

  it('ends with the process that held it, however that ended', async () => {
    const module = new URL('./exclusive.ts', import.meta.url).href;
    const holder = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        '--input-type=module',
        '--expose-gc',
        '-e',
        `const { holdExclusively } = await import(${JSON.stringify(module)});
         holdExclusively(${JSON.stringify(directory)}).announce('http://127.0.0.1:1');
         await new Promise((resolve) => setTimeout(resolve, 10)); globalThis.gc();
         console.log('held'); setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await once(holder.stdout, 'data');
      expect(() => holdExclusively(directory)).toThrow(`process ${holder.pid}`);
    } finally {
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    }
    holdExclusively(directory).release();
  });

  it('waits for the workers that a killed primary left, since they may still write', async () => {
    const module = new URL('./exclusive.ts', import.meta.url).href;
    const written = join(directory, 'written');
    const script = `const { joinHold } = await import(${JSON.stringify(module)});
      const { writeFileSync } = await import('node:fs');
      joinHold(${JSON.stringify(directory)});
      console.log('joined');
      process.stdin.once('data', () => setTimeout(() => {
        writeFileSync(${JSON.stringify(written)}, '');
        process.exit();
      }, 300));`;
    const worker = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const exited = once(worker, 'exit');
    try {
      await once(worker.stdout, 'data');
      worker.stdin.write('end');
      const held = holdExclusively(directory);
      expect(existsSync(written)).toBe(true);
      held.release();
    } finally {
      worker.kill('SIGKILL');
      await exited;
    }
  });
});
