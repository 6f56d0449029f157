import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from './call.ts';
import { createKey, exchange, main, removeDirectory, root, sightline, temporaryDirectory } from './gateway.ts';

/*
 * node test/support/call-trace.ts: how many files a call enters from socket to engine and back, how many functions run and how
 * often. V8's precise coverage counts, in the gateway and in the process of its DuckDB engine; nothing in the sources changes.
 * Functions that run without any request, such as the polls of workers, are left out.
 */

const coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({ ranges: z.tuple([z.object({ startOffset: z.number(), count: z.number() })], z.unknown()) }),
      ),
    }),
  ),
});
const reply = z.object({ id: z.number(), result: z.unknown() });
const announcement = z.object({ url: z.string() });
const sources = ['src/', 'plugins/'].map((folder) => pathToFileURL(root).href + folder);

/** Calls by function, and functions by file. */
type Calls = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** V8's coverage of one process. Each reading counts from the one before. */
class Coverage {
  readonly #socket: WebSocket;
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async of(url: string): Promise<Coverage> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`No inspector answers at ${url}.`)));
    });
    const started = new Coverage(socket);
    await started.#ask('Profiler.enable');
    await started.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return started;
  }

  async read(): Promise<Calls> {
    const { result } = coverage.parse(await this.#ask('Profiler.takePreciseCoverage'));
    const counted = result
      .filter(({ url }) => sources.some((folder) => url.startsWith(folder)))
      .map(({ url, functions }) => {
        const called = functions.map(({ ranges: [{ startOffset, count }] }) => [startOffset, count] as const);
        return [url, new Map(called.filter(([, count]) => count > 0))] as const;
      });
    return new Map(counted.filter(([, functions]) => functions.size > 0));
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string, params: Readonly<Record<string, boolean>> = {}): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const hear = ({ data }: MessageEvent): void => {
        const answer = reply.safeParse(JSON.parse(String(data)));
        if (answer.data?.id !== id) return;
        this.#socket.removeEventListener('message', hear);
        resolve(answer.data.result);
      };
      this.#socket.addEventListener('message', hear);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

async function until<T>(what: string, look: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      return await look();
    } catch {
      await delay(100);
    }
  }
  throw new Error(`${what} did not come within a minute.`);
}

/** SIGUSR1 makes Node open its inspector on its usual port: the engine takes no option and no environment from outside. */
async function engineInspector(gateway: number): Promise<string> {
  const children = await readFile(`/proc/${gateway}/task/${gateway}/children`, 'utf8');
  process.kill(Number(children.trim().split(' ')[0]), 'SIGUSR1');
  return until("The engine's inspector", async () => {
    const answer: unknown = await (await fetch('http://127.0.0.1:9229/json/list')).json();
    return z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).parse(answer)[0].webSocketDebuggerUrl;
  });
}

async function listTools(url: string, token: string): Promise<void> {
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  if (!(await answer.text()).includes('query_otel')) throw new Error('tools/list lists no tools.');
}

const directory = await temporaryDirectory();
await sightline(directory, ['org', 'create', 'acme']);
const key = await createKey(directory, 'acme');
const gateway = spawn(
  process.execPath,
  ['--inspect=127.0.0.1:0', main, 'serve', '--no-demo', '--port', '0', '--data', directory],
  { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
);
const ended = new Promise((resolve) => gateway.once('close', resolve));
let output = '';
gateway.stderr.on('data', (chunk) => (output += String(chunk)));
try {
  const { url } = await until('The gateway', async () => {
    const found = announcement.parse(JSON.parse(await readFile(`${directory}/gateway.json`, 'utf8')));
    if (!(await fetch(`${found.url}/readyz`)).ok) throw new Error('It is not ready.');
    return found;
  });
  const token = await exchange(url, key);
  const ask = async (sql: string): Promise<void> => {
    const { isError, text } = await callTool(url, token, 'query_otel', { sql });
    if (isError) throw new Error(text);
  };
  await ask('SELECT count(*) FROM otel.logs');
  const inspected = /ws:\/\/\S+/.exec(output)?.[0] ?? '';
  const processes = {
    gateway: await Coverage.of(inspected),
    engine: await Coverage.of(await engineInspector(gateway.pid ?? 0)),
  };
  const trip = async (call: () => Promise<void>): Promise<readonly (readonly [string, Calls])[]> => {
    // What follows an answer, such as its audit, belongs to the trip that caused it.
    await delay(1_000);
    await Promise.all(Object.values(processes).map((each) => each.read()));
    await call();
    await delay(1_000);
    return Promise.all(Object.entries(processes).map(async ([part, each]) => [part, await each.read()] as const));
  };
  const show = async (name: string, call: () => Promise<void>): Promise<void> => {
    for (const [part, calls] of await trip(call)) {
      const own = [...calls].map(([file, functions]) => {
        const idle = background.get(part)?.get(file);
        return [...functions].filter(([start]) => idle?.has(start) !== true).map(([, count]) => count);
      });
      const counts = own.flat();
      const [files, total] = [
        own.filter(({ length }) => length > 0).length,
        counts.reduce((sum, count) => sum + count, 0),
      ];
      process.stdout.write(`${name}, ${part}: ${files} files, ${counts.length} functions, ${total} calls\n`);
    }
  };
  // Once uncounted: what a process does for its first call only is no part of the second.
  await listTools(url, token);
  const statement = "SELECT service_name, count(*) FROM otel.spans WHERE status_code = 'ERROR' GROUP BY service_name";
  const background = new Map(await trip(() => delay(5_000)));
  await show('new statement', () => ask(statement));
  await show('same again', () => ask(statement));
  await show('tools/list', () => listTools(url, token));
  for (const each of Object.values(processes)) each.close();
} finally {
  gateway.kill('SIGTERM');
  await ended;
  await removeDirectory(directory);
}
