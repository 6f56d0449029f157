import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withShared } from './forms/config.ts';
import { storageOfAll, workersOfAll } from './forms/form.ts';
import { requireNoSecrets } from './no-secrets.ts';
import { storeOn } from './stores.ts';

const bin = fileURLToPath(new URL('../../bin/sightline.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command line; what it has printed so far can be waited for. */
export class Cli {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  constructor(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    // Nothing of the caller's own environment: a SIGHTLINE_ variable there would change what is tested.
    const inherited = { PATH: process.env['PATH'] ?? '', HOME: cwd, TMPDIR: tmpdir() };
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = once(child, 'close').then(() => {
      requireNoSecrets(this.stderr);
      return { code: child.exitCode, stdout: this.stdout, stderr: this.stderr };
    });
    this.#child = child;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The first match in standard output. Rejects when the process ends without one. */
  async printed(pattern: RegExp): Promise<RegExpMatchArray> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    for (;;) {
      const found = this.stdout.match(pattern);
      if (found !== null) return found;
      if (over) throw new Error(`ended without printing ${pattern}:\n${this.stdout}\n${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A place of its own for one test: a working directory with a data directory in it, and the processes started there. */
export class Sandbox {
  readonly directory: string;
  readonly data: string;
  readonly #started: Cli[] = [];

  readonly #store: Awaited<ReturnType<typeof storeOn>> | undefined;

  private constructor(directory: string, store: Awaited<ReturnType<typeof storeOn>> | undefined) {
    this.directory = directory;
    this.data = join(directory, 'data');
    this.#store = store;
  }

  /** In the forms `postgres` and `mysql` its storage is a database of that server, and one gateway serves. */
  static async create(): Promise<Sandbox> {
    const directory = await mkdtemp(join(tmpdir(), 'sightline-cli-'));
    return new Sandbox(directory, storageOfAll === undefined ? undefined : await storeOn(storageOfAll));
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Cli {
    const storage = this.#store && { plugin: 'knex', ...this.#store.process.config };
    const cli = new Cli(this.directory, storage ? withShared(args, this.directory, { storage }) : args, env);
    this.#started.push(cli);
    return cli;
  }

  /** Runs a command on the sandbox's data to its end. */
  run(...args: string[]): Promise<Ended> {
    return this.start([...args, '--data', this.data]).ended;
  }

  /** A gateway on a free port, once it serves. */
  async serve(...args: string[]): Promise<{ readonly cli: Cli; readonly url: string }> {
    const workers = workersOfAll > 1 ? ['--workers', String(workersOfAll)] : [];
    const cli = this.start(['serve', '--data', this.data, '--port', '0', ...workers, ...args]);
    const [, url = ''] = await cli.printed(/listens at (http:\S+)\/mcp/);
    return { cli, url };
  }

  async remove(): Promise<void> {
    for (const cli of this.#started) cli.kill('SIGKILL');
    await Promise.all(this.#started.map(({ ended }) => ended));
    await this.#store?.cleanup();
    await rm(this.directory, { recursive: true, force: true });
  }
}
