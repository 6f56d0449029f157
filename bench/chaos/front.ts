import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../test/support/listen.ts';

/** The answer's header that says which replica gave it. */
export const replicaHeader = 'x-replica';
const probeEveryMs = 200;
/** A busy machine is not a frozen one. */
const probePatienceMs = 3_000;
const patienceMs = 18_000;

export interface Front {
  readonly url: string;
  /** Numbers of the replicas that get requests. */
  readonly ready: readonly number[];
  /** When it was asked for the answer that came last, in milliseconds of `performance.now()`. */
  asked(replica: number): number;
  /** What that answer was. */
  said(replica: number): string;
  close(): Promise<void>;
}

/**
 * Gives requests in turn to the replicas whose /readyz says yes, and repeats none.
 * @param urlOf where a replica listens now, by its number; undefined while it does not run.
 */
export async function startFront(replicas: number, urlOf: (replica: number) => string | undefined): Promise<Front> {
  const agent = new Agent({ keepAlive: true });
  const probes: NodeJS.Timeout[] = [];
  let ready: readonly number[] = [];
  const answers = new Map<number, { readonly asked: number; readonly said: string }>();
  let turn = 0;

  async function probe(replica: number): Promise<void> {
    const url = urlOf(replica);
    const asked = performance.now();
    const { ok: well, said } = url === undefined ? { ok: false, said: 'it does not run' } : await readiness(url);
    answers.set(replica, { asked, said });
    const others = ready.filter((each) => each !== replica);
    ready = well && urlOf(replica) === url ? [...others, replica] : others;
  }

  for (let replica = 0; replica < replicas; replica += 1) {
    let asking = false;
    const ask = (): void => {
      if (asking) return;
      asking = true;
      void probe(replica).finally(() => (asking = false));
    };
    probes.push(setInterval(ask, probeEveryMs));
  }

  function refuse(response: ServerResponse, status: number): void {
    if (response.headersSent) response.destroy();
    else response.writeHead(status).end();
  }

  const server = createServer({ requestTimeout: 0 }, (request: IncomingMessage, response: ServerResponse) => {
    const replica = ready[(turn += 1) % ready.length];
    const url = replica === undefined ? undefined : urlOf(replica);
    if (replica !== undefined) response.setHeader(replicaHeader, String(replica));
    if (url === undefined) return refuse(response, 503);
    const { method, rawHeaders: headers } = request;
    const upstream = send(new URL(request.url ?? '/', url), { method, headers, agent, timeout: patienceMs });
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, [...answer.rawHeaders, replicaHeader, String(replica)]);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    upstream.once('timeout', () => upstream.destroy(new Error('no answer')));
    upstream.once('error', () => refuse(response, 502));
    response.once('close', () => {
      if (!response.writableFinished) upstream.destroy();
    });
    request.pipe(upstream);
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    get ready() {
      return ready;
    },
    asked: (replica) => answers.get(replica)?.asked ?? 0,
    said: (replica) => answers.get(replica)?.said ?? 'it was not asked yet',
    async close() {
      for (const each of probes) clearInterval(each);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readiness(url: string): Promise<{ readonly ok: boolean; readonly said: string }> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(probePatienceMs) });
    return { ok: answer.ok, said: `${answer.status} ${await answer.text()}` };
  } catch (error) {
    return { ok: false, said: String(error instanceof Error ? (error.cause ?? error) : error) };
  }
}
