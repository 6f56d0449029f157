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
 */

const coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(z.object({ ranges: z.tuple([z.object({ count: z.number() })], z.unknown()) })),
    }),
  ),
});
const reply = z.object({ id: z.number(), result: z.unknown() });
const announcement = z.object({ url: z.string() });
const sources = ['src/', 'plugins/'].map((folder) => pathToFileURL(root).href + folder);

interface Counts {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
}

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

  async read(): Promise<Counts> {
    const { result } = coverage.parse(await this.#ask('Profiler.takePreciseCoverage'));
    const counted = result
      .filter(({ url }) => sources.some((folder) => url.startsWith(folder)))
      .map(({ functions }) => functions.map(({ ranges }) => ranges[0].count).filter((count) => count > 0))
      .filter((counts) => counts.length > 0);
    const counts = counted.flat();
    return { files: counted.length, functions: counts.length, calls: counts.reduce((sum, count) => sum + count, 0) };
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
  const trip = async (name: string, call: () => Promise<void>): Promise<void> => {
    // What follows an answer, such as its audit, belongs to the trip that caused it.
    await delay(1_000);
    await Promise.all(Object.values(processes).map((each) => each.read()));
    await call();
    await delay(1_000);
    for (const [part, counted] of Object.entries(processes)) {
      const { files, functions, calls } = await counted.read();
      process.stdout.write(`${name}, ${part}: ${files} files, ${functions} functions, ${calls} calls\n`);
    }
  };
  // Once uncounted: what a process does for its first call only is no part of the second.
  await listTools(url, token);
  const statement = "SELECT service_name, count(*) FROM otel.spans WHERE status_code = 'ERROR' GROUP BY service_name";
  await trip('no request', () => Promise.resolve());
  await trip('new statement', () => ask(statement));
  await trip('same again', () => ask(statement));
  await trip('tools/list', () => listTools(url, token));
  for (const each of Object.values(processes)) each.close();
} finally {
  gateway.kill('SIGTERM');
  await ended;
  await removeDirectory(directory);
}
