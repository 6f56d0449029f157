import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

export interface ServerOptions {
  /** Kept when the server stops; a new temporary one otherwise. */
  readonly directory?: string;
  /** The `<clickhouse>` element of users.xml for the user that everybody is; who may do everything without it. */
  readonly usersXml?: string;
  /** As a profile with readonly = 1 in which these settings alone may be changed. */
  readonly readonlyExcept?: readonly string[];
  /** How an error after the first rows is told: since 25.11 `tagged` (the default), `plain` before. */
  readonly exceptions?: 'tagged' | 'plain';
  /** A free one by default. */
  readonly port?: number;
}

const ready = z.object({ port: z.int() });

/** A real ClickHouse engine behind HTTP, in a process and a directory of its own. */
export class ClickHouseServer {
  readonly url: string;
  readonly port: number;
  readonly directory: string;
  readonly #child: ChildProcess;
  readonly #owned: readonly string[];

  private constructor(child: ChildProcess, port: number, directory: string, owned: readonly string[]) {
    this.#child = child;
    this.#owned = owned;
    this.port = port;
    this.directory = directory;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(options: ServerOptions = {}): Promise<ClickHouseServer> {
    const owned: string[] = [];
    const own = async () => {
      const path = await mkdtemp(join(tmpdir(), 'sl-click-'));
      owned.push(path);
      return path;
    };
    const directory = options.directory ?? (await own());
    const { usersXml, readonlyExcept, exceptions, port = 0 } = options;
    const config = usersXml === undefined ? [] : ['--config', await writeConfig(await own(), usersXml)];
    const readonly = readonlyExcept ? ['--readonly', ...readonlyExcept.flatMap((name) => ['--changeable', name])] : [];
    const plain = exceptions === 'plain' ? ['--plain'] : [];
    const child = fork(
      join(import.meta.dirname, 'process.ts'),
      ['--directory', directory, '--port', String(port), ...config, ...readonly, ...plain],
      // Each statement that runs holds a thread of the pool.
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        execArgv: [],
        // Where a statement's own files land.
        cwd: directory,
        env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
      },
    );
    const exited = once(child, 'exit').then(() => undefined);
    const [message]: unknown[] = (await Promise.race([once(child, 'message'), exited])) ?? [];
    if (message === undefined) {
      await remove(owned);
      throw new Error('the ClickHouse engine did not start');
    }
    // A test that asks what a plugin left running is not told of this.
    child.unref();
    child.channel?.unref();
    return new ClickHouseServer(child, ready.parse(message).port, directory, owned);
  }

  /** Runs one statement; answers its tab-separated rows. */
  async run(sql: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const response = await fetch(`${this.url}/?${new URLSearchParams(settings).toString()}`, {
      method: 'POST',
      body: sql,
    });
    const text = await response.text();
    if (!response.ok || text.includes('__exception__')) throw new Error(text);
    return text;
  }

  /** The statements of a script, one after another. */
  async runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.run(statement);
  }

  /** A copy of the data, for a server of its own. */
  async copy(): Promise<string> {
    await this.run('SYSTEM STOP MERGES');
    const path = await mkdtemp(join(tmpdir(), 'sl-click-'));
    await cp(this.directory, path, { recursive: true });
    return path;
  }

  /** As when the machine dies: at once, with whatever is under way. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.ref();
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Stopped in its tracks: connections stay open, nothing is answered. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends the process and deletes what it made. */
  async stop(): Promise<void> {
    await this.kill();
    await remove(this.#owned);
  }
}

async function remove(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { recursive: true, force: true });
}

async function writeConfig(directory: string, usersXml: string): Promise<string> {
  const users = join(directory, 'users.xml');
  await writeFile(users, usersXml);
  const config = join(directory, 'config.xml');
  await writeFile(config, `<clickhouse><users_config>${users}</users_config></clickhouse>`);
  return config;
}
