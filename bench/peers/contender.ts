import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { listen } from '../../test/support/listen.ts';
import type { Speech } from './lines.ts';

/** A server under load. */
export interface Contender {
  readonly name: string;
  /** Of its MCP endpoint. */
  readonly url: string;
  readonly pid: number;
  readonly speech: Speech;
  readonly token?: string;
  /** What each call goes through beside the query. */
  readonly guards: string;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A program in a process of its own, once something answers at its port. */
export async function startProgram(
  command: string,
  args: readonly string[],
  { port, directory, env }: { readonly port: number; readonly directory: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly pid: number; stop(): Promise<void> }> {
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    if (said.length < 10_000) said += String(chunk);
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(timer);
  };
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${command} ended at once: ${said}`);
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) });
      return { pid: child.pid ?? 0, stop };
    } catch {
      await delay(100);
    }
  }
  await stop();
  throw new Error(`${command} did not answer in time: ${said}`);
}
