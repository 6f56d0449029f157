import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Called } from './call.ts';
import type { RunningGateway } from './gateway.ts';

const served = z.object({ worker: z.number(), pid: z.number(), msg: z.literal('a worker serves') });

/** Process ids by worker, from what the workers log when they serve; the newest of each. */
export function workersOf({ output }: Pick<RunningGateway, 'output'>): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const line of output().split('\n')) {
    if (!line.includes('a worker serves')) continue;
    const { worker, pid } = served.parse(JSON.parse(line));
    found.set(worker, pid);
  }
  return found;
}

/** Waits until `done`, a minute at most. */
export async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (await done()) return;
    await delay(50);
  }
  throw new Error(`${what}: not within a minute`);
}

/** Runs `work` while that worker alone answers new connections. */
export async function atWorker<Result>(
  gateway: RunningGateway,
  number: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const others = [...workersOf(gateway)].flatMap(([worker, pid]) => (worker === number ? [] : [pid]));
  for (const pid of others) process.kill(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    for (const pid of others) process.kill(pid, 'SIGCONT');
  }
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Client {
  /** Rejects when the connection is lost. */
  post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer>;
  close(): void;
}

const patienceMs = 60_000;

/** A client with one connection, which it keeps until the server closes it; or with a new one for each request. */
export function client(url: string, { keepAlive }: { readonly keepAlive: boolean }): Client {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  return {
    post: (path, headers, body) =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}${path}`, { method: 'POST', agent, headers, timeout: patienceMs }, (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
          response.on('error', reject);
        });
        sent.on('timeout', () => sent.destroy(new Error('no answer')));
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** A `tools/call` on a connection of its own. */
export async function callOnce(url: string, token: string, name: string, args: object): Promise<Called> {
  const single = client(url, { keepAlive: false });
  try {
    return await callThrough(single, token, name, args);
  } finally {
    single.close();
  }
}

/** Of a request to the MCP endpoint. */
export function headersFor(token: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
}

/** A `tools/call`. */
export function requestOf(id: number, name: string, args: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
}

const envelope = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.unknown().optional() }).optional(),
});

/** The same on the client's connection. */
export async function callThrough(through: Client, token: string, name: string, args: object): Promise<Called> {
  const { status, body } = await through.post('/mcp', headersFor(token), requestOf(1, name, args));
  const { result } = status === 200 ? envelope.parse(JSON.parse(body)) : { result: undefined };
  return {
    status,
    isError: result === undefined || result.isError === true,
    structured: result?.structuredContent,
    text: body,
    raw: body,
  };
}
