import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';

export interface Running {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** Written to its input, each a little after what it printed since the last one matches. */
  readonly replies?: readonly Reply[];
  /** Once what it printed matches, or another thing has come about, the program has done its part and is ended. */
  readonly until?: RegExp | Promise<unknown>;
  /** Ends it at once. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly after: RegExp;
  readonly text: string;
}

export interface Ran {
  readonly code: number | null;
  /** Standard output and error, as they came. */
  readonly output: string;
}

/** Terminal windows drop what is typed while they are drawn. */
const replyMs = 700;

/** Runs a program and all that it starts to the end, of its own or of its time. */
export async function runProgram(program: string, words: readonly string[], how: Running): Promise<Ran> {
  const { cwd, env, timeoutMs, replies = [], until, signal } = how;
  const child = spawn(program, words, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  let output = '';
  let [replied, from, typing] = [0, 0, false];
  const reply = (): void => {
    const next = replies[replied];
    if (next === undefined || typing || !next.after.test(stripVTControlCharacters(output.slice(from)))) return;
    [replied, typing] = [replied + 1, true];
    setTimeout(() => {
      [from, typing] = [output.length, false];
      child.stdin.write(next.text);
    }, replyMs);
  };
  const hear = (chunk: unknown): void => {
    output += String(chunk);
    reply();
    if (until instanceof RegExp && until.test(output)) end();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.stdin.on('error', () => undefined);
  if (replies.length === 0 && until === undefined) child.stdin.end();
  if (until instanceof Promise) void until.then(end, end);
  await once(child, 'close');
  clearTimeout(timer);
  signal?.removeEventListener('abort', end);
  end();
  return { code: child.exitCode, output };
}

/** Ends what a program left running in the background, known by the home that it was given; on Linux alone. */
export async function endAllOf(home: string): Promise<void> {
  const processes = await readdir('/proc').catch(() => []);
  for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').includes(`HOME=${home}`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
