import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { storageOfAll, workersOfAll, type SharedStorage } from './forms/form.ts';
import { requireNoSecrets } from './no-secrets.ts';
import type { Ran } from './run.ts';
import { nodeOptions } from './start-command.ts';
import type { TwoGateways } from './two-gateways.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const main = join(root, 'bin', 'sightline.js');
const commandsProgram = join(root, 'test', 'support', 'commands.ts');

export interface RunningGateway {
  /** Of one that is two: each by itself. */
  readonly each?: readonly [RunningGateway, RunningGateway];
  readonly url: string;
  readonly dataDirectory: string;
  readonly process: ChildProcess;
  /** Everything it wrote to standard output and error. */
  output(): string;
  /** SIGTERM, then the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export async function temporaryDirectory(): Promise<string> {
  // Short: a socket in it has 108 bytes for its path.
  return mkdtemp(join(tmpdir(), 'sl-'));
}

/** Those that are two. In the forms `postgres` and `mysql` each one is. */
const shared = new Map<string, Promise<TwoGateways>>();

/** From now on the gateway of this data directory is two, also to the command line. */
export function shareGateway(dataDirectory: string, storage: SharedStorage): Promise<TwoGateways> {
  const made =
    shared.get(dataDirectory) ??
    import('./two-gateways.ts').then(({ makeTwoGateways }) => makeTwoGateways(dataDirectory, storage));
  shared.set(dataDirectory, made);
  return made;
}

async function sharedBy(dataDirectory: string): Promise<TwoGateways | undefined> {
  return storageOfAll === undefined ? shared.get(dataDirectory) : shareGateway(dataDirectory, storageOfAll);
}

export async function removeDirectory(path: string): Promise<void> {
  await (await shared.get(path))?.close();
  shared.delete(path);
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

export interface GatewayOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly port?: number;
  readonly workers?: number;
  /** Of another installation than this checkout. */
  readonly program?: string;
  /** How long it may take to be ready: 30 s. */
  readonly readyMs?: number;
}

/** A real gateway in its own process, on a free port unless another is given, with an empty workspace. */
export async function startGateway(dataDirectory: string, options: GatewayOptions = {}): Promise<RunningGateway> {
  const two = await sharedBy(dataDirectory);
  return two ? startTwo(two, options) : startOne(dataDirectory, options);
}

/** Both at once, as a company's first start of two replicas is. */
async function startTwo(two: TwoGateways, options: GatewayOptions): Promise<RunningGateway> {
  const { args = ['--no-demo'] } = options;
  const own = { ...options, args: two.configured(args) };
  const starting = [startOne(two.directories[0], own), startOne(two.directories[1], own)] as const;
  // One that did not start leaves none behind.
  const [first, second] = await Promise.all(starting).catch(async (error: unknown) => {
    for (const each of await Promise.allSettled(starting)) if (each.status === 'fulfilled') await each.value.kill();
    throw error;
  });
  two.front.to([first.url, second.url]);
  return {
    each: [first, second],
    url: two.front.url,
    dataDirectory: first.dataDirectory,
    process: first.process,
    output: () => first.output() + second.output(),
    async stop() {
      const codes = await Promise.all([first.stop(), second.stop()]);
      return codes.find((code) => code !== 0) ?? 0;
    },
    async kill() {
      await Promise.all([first.kill(), second.kill()]);
    },
  };
}

/** One process tree, whose `url` is where it listens itself. */
export async function startOne(dataDirectory: string, options: GatewayOptions = {}): Promise<RunningGateway> {
  const {
    args = ['--no-demo'],
    env = {},
    port = 0,
    workers = workersOfAll,
    readyMs = 60_000,
    program = main,
  } = options;
  const several = workers > 1 ? ['--workers', String(workers)] : [];
  const child = spawn(
    process.execPath,
    [...nodeOptions, program, 'serve', '--data', dataDirectory, '--port', String(port), ...several, ...args],
    {
      cwd: dataDirectory,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const exited = once(child, 'exit');
  const url = await announced(dataDirectory, child, readyMs, () => output);
  return {
    url,
    dataDirectory,
    process: child,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      requireNoSecrets(output);
      return child.exitCode;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
      requireNoSecrets(output);
    },
  };
}

const lookMs = 50;
const announcement = z.object({ pid: z.number(), url: z.string() });

async function announced(
  dataDirectory: string,
  child: ChildProcess,
  readyMs: number,
  output: () => string,
): Promise<string> {
  for (let attempt = 0; attempt < readyMs / lookMs; attempt += 1) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the gateway did not start:\n${output()}`);
    try {
      const { pid, url } = announcement.parse(JSON.parse(await readFile(join(dataDirectory, 'gateway.json'), 'utf8')));
      if (pid === child.pid && (await fetch(`${url}/readyz`)).status === 200) return url;
    } catch {
      // Not written yet.
    }
    await delay(lookMs);
  }
  child.kill('SIGKILL');
  throw new Error(`the gateway was not ready in ${readyMs / 1_000} s:\n${output()}`);
}

/** By which a shell's `sightline …` is that gateway's. */
export async function environmentOf(dataDirectory: string): Promise<Readonly<Record<string, string>>> {
  const [, file] = (await sharedBy(dataDirectory))?.configured([]) ?? [];
  return { SIGHTLINE_DATA: dataDirectory, ...(file === undefined ? {} : { SIGHTLINE_CONFIG: file }) };
}

/** Begins `sightline …`. */
export async function beginSightline(
  dataDirectory: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const two = await sharedBy(dataDirectory);
  const configured = two?.configured(args) ?? args;
  return spawn(process.execPath, [main, ...configured, '--data', dataDirectory], {
    cwd: dataDirectory,
    env: { ...process.env, NODE_OPTIONS: '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs `sightline …` to its end. */
export async function sightline(
  dataDirectory: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return ended(await beginSightline(dataDirectory, args, options));
}

async function ended(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  await once(child, 'close');
  requireNoSecrets(stderr);
  return { code: child.exitCode, stdout, stderr };
}

/** The same with `--json`, its answer parsed by `shape`. */
export async function sightlineJson<Shape extends z.ZodType>(
  dataDirectory: string,
  args: readonly string[],
  shape: Shape,
): Promise<z.output<Shape>> {
  const { code, stdout, stderr } = await sightline(dataDirectory, [...args, '--json']);
  if (code !== 0) throw new Error(`sightline ${args.join(' ')} ended with ${code}: ${stderr}`);
  return shape.parse(JSON.parse(stdout));
}

export const credentials = z.object({ client_id: z.string(), client_secret: z.string() });
export type Credentials = z.output<typeof credentials>;

/**
 * What a command with `--json` answers about an organization that is made first, unless it is there. Both in one process: loading
 * the program is nearly all that a command takes.
 */
export async function inOrganization<Shape extends z.ZodType>(
  dataDirectory: string,
  organization: string,
  args: readonly string[],
  shape: Shape,
): Promise<z.output<Shape>> {
  const two = await sharedBy(dataDirectory);
  const commands = [
    ['org', 'create', organization],
    [...args, '--org', organization],
  ].map((command) => {
    const all = [...command, '--json'];
    return JSON.stringify([...(two?.configured(all) ?? all), '--data', dataDirectory]);
  });
  const child = spawn(process.execPath, ['--conditions=sightline-source', commandsProgram, ...commands], {
    cwd: dataDirectory,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = await ended(child);
  const [, made, answer = '', code] = stdout.split('\0');
  if (made !== '0' && !stderr.includes('conflict')) throw new Error(stderr);
  if (code !== '0') throw new Error(`sightline ${args.join(' ')} ended with ${code}: ${stderr}`);
  return shape.parse(JSON.parse(answer));
}

/** An organization with one key, made on the command line. */
export async function createKey(dataDirectory: string, organization: string, scopes = 'all'): Promise<Credentials> {
  return inOrganization(
    dataDirectory,
    organization,
    ['key', 'create', '--name', 'test', '--scopes', scopes],
    credentials,
  );
}

export async function exchange(url: string, { client_id, client_secret }: Credentials): Promise<string> {
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  if (!response.ok) throw new Error(`the token exchange answered ${response.status}: ${await response.text()}`);
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token;
}
