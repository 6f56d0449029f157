import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../../src/contract/core/index.ts';
import { Channel } from './channel.ts';
import type { Room } from './room.ts';
import { exitCode, type EngineSettings, type Hello, type Released } from './protocol.ts';

export interface ProcessOptions {
  readonly settings: EngineSettings;
  readonly addressSpaceKb: number;
  /** For what Node compiled; without it an engine started from TypeScript has little address space left. */
  readonly compileCache: string;
  /** Where all seats are taken. */
  readonly room: Room;
  readonly logger: Logger;
}

export interface EngineProcess {
  readonly channel: Channel;
  /** Our own child, unless another gateway started the engine. */
  readonly child: ChildProcess | undefined;
  /** What our own child took to answer; 0 for another gateway's. */
  readonly startedMs: number;
}

export class EngineUnreadable extends Error {
  readonly full: boolean;
  constructor(message: string, full: boolean) {
    super(message);
    this.name = 'EngineUnreadable';
    this.full = full;
  }
}

const patienceMs = 20_000;
const maxStarts = 4;
const firstLookMs = 10;
const lastLookMs = 100;
/** How long a process that was let go may take to end. */
const endMs = 5_000;
const logBytesPerProcess = 64 * 1024;

/**
 * Connects to the organization's engine, starting one where none answers. Several gateways may do so at once: the file's
 * lock decides whose child serves, and the others connect to it.
 */
export async function connectEngine(options: ProcessOptions): Promise<EngineProcess> {
  let end = Date.now() + patienceMs;
  let child: Started | undefined;
  let starts = 0;
  let warm = false;
  let pauseMs = firstLookMs;
  for (;;) {
    const greeted = await greet(options.settings.socket, end);
    if (greeted !== undefined) {
      const own = serving(child?.process, greeted.pid);
      return { channel: greeted.channel, child: own, startedMs: own && child ? Date.now() - child.at : 0 };
    }
    if (child === undefined || hasEnded(child.process)) {
      const code = child?.process.exitCode ?? undefined;
      if (child !== undefined && (code === exitCode.unreadable || code === exitCode.full)) {
        throw new EngineUnreadable(child.lastWords(), code === exitCode.full);
      }
      if (code === exitCode.again) warm = true;
      if (code === exitCode.crowded) {
        await options.room.wait();
        starts = 0;
        end = Date.now() + patienceMs;
      }
      if (starts === maxStarts) throw new Error(`the engine process does not start: ${child?.lastWords() ?? ''}`);
      starts += 1;
      child = start(options, warm);
    }
    if (Date.now() > end) {
      child.process.kill('SIGKILL');
      throw new Error('the engine process does not answer');
    }
    await sleep(pauseMs);
    pauseMs = Math.min(lastLookMs, pauseMs * 1.1);
  }
}

/**
 * The child, if it is the engine that answered. Otherwise the child is stopped: if the other engine ended before the child
 * opened the file, the child would get the lock and hold a seat without any user.
 */
function serving(child: ChildProcess | undefined, pid: number): ChildProcess | undefined {
  if (child === undefined || child.pid === pid) return child;
  child.kill('SIGTERM');
  return undefined;
}

/** Or was never there: a process that could not be made has no number. */
function hasEnded({ pid, exitCode: code, signalCode }: ChildProcess): boolean {
  return pid === undefined || code !== null || signalCode !== null;
}

/** A connection, if an engine listens and answers. One that is ending may accept a connection and drop it. */
async function greet(
  socket: string,
  end: number,
): Promise<{ readonly channel: Channel; readonly pid: number } | undefined> {
  const channel = await Channel.connect(socket);
  if (channel === undefined) return undefined;
  try {
    const timeoutMs = Math.max(1_000, end - Date.now());
    const { header } = await channel.request<Hello>({ op: 'hello' }, { timeoutMs });
    channel.kill = () => killEngine(header.pid, socket);
    return { channel, pid: header.pid };
  } catch {
    channel.close();
    return undefined;
  }
}

/** Kills the process only if it is that engine: its number may mean another process in this container. */
function killEngine(pid: number, socket: string): void {
  try {
    if (process.platform === 'linux' && !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(socket)) return;
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** Ends the connection, and waits for our own child to end where nobody else uses it. */
export async function letGo(opening: Promise<EngineProcess>): Promise<void> {
  const engine = await opening.catch(() => undefined);
  if (engine === undefined) return;
  const { channel, child } = engine;
  const shared = await channel
    .request<Released>({ op: 'release' }, { timeoutMs: 1_000 })
    .then(({ header }) => header.shared)
    .catch(() => false);
  channel.close();
  await channel.closed;
  if (child === undefined || shared) return;
  await ended(child);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const killer = setTimeout(() => child.kill('SIGKILL'), endMs);
    child.ref();
    child.once('exit', () => {
      clearTimeout(killer);
      resolve();
    });
  });
}

/** Normal exit codes, not logged: no connection left, no free seat, or only the compile cache was filled. */
const expected: ReadonlySet<number> = new Set([0, exitCode.crowded, exitCode.again]);

interface Started {
  readonly process: ChildProcess;
  readonly at: number;
  lastWords(): string;
}

function start({ settings, addressSpaceKb, compileCache, logger }: ProcessOptions, warm: boolean): Started {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const script = fileURLToPath(new URL(`./engine/main.${extension}`, import.meta.url));
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      // Where the limit cannot be set (macOS), the deadline and the kill still hold.
      'ulimit -v "$1" 2>/dev/null; shift; exec "$@"',
      'sh',
      String(addressSpaceKb),
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=512',
      script,
      JSON.stringify(settings),
    ],
    {
      // In the gateway's session (not detached): Linux may give each session an equal part of the processors, whatever stands
      // inside it, and a gateway with sixteen engines would have a seventeenth.
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: '/',
      // Not the gateway's environment, which may hold secrets.
      env: {
        TZ: 'UTC',
        UV_THREADPOOL_SIZE: '10',
        // Each arena reserves 64 MB of addresses.
        MALLOC_ARENA_MAX: '2',
        NODE_COMPILE_CACHE: compileCache,
        ...(warm && { SIGHTLINE_ENGINE_WARM: '1' }),
      },
    },
  );
  let words = '';
  child.on('error', (error) => {
    words = error.message;
    logger.error({ error }, 'the telemetry engine could not be started');
  });
  const at = Date.now();
  // There are no streams where the system had no process or file to give.
  if (child.pid === undefined) return { process: child, at, lastWords: () => words };
  comeSecond(child.pid);
  child.unref();
  let logged = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      logged += chunk.length;
      if (logged > logBytesPerProcess) return;
      const text = chunk.toString('utf8').trimEnd();
      words = `${words}\n${text}`.slice(-2_000);
      logger.warn({ pid: child.pid, output: text.slice(0, 2_000) }, 'the telemetry engine wrote');
    });
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  child.on('exit', (code, signal) => {
    if (code === null || !expected.has(code)) logger.info({ pid: child.pid, code, signal }, 'a telemetry engine ended');
  });
  return { process: child, at, lastWords: () => words.trim() };
}

/** Engines run at a fifth of the scheduling weight of the gateway, so that queries do not delay answers, refusals and ingest. */
function comeSecond(pid: number): void {
  try {
    setPriority(pid, Math.min(19, getPriority() + 7));
  } catch {
    // Where a sandbox forbids it they are equals.
  }
}
