import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listen } from './listen.ts';

/** A reverse proxy that gives each request to the next gateway in turn, as one without sticky sessions does. */
export interface Front {
  readonly url: string;
  /** Where requests go from now on. */
  to(gateways: readonly string[]): void;
  close(): Promise<void>;
}

/** Keeps connections on both sides, streams both ways, and passes over a gateway to which no connection can be made. */
export async function startFront(): Promise<Front> {
  const agent = new Agent({ keepAlive: true });
  let gateways: readonly string[] = [];
  let turn = 0;

  function forward(request: IncomingMessage, response: ServerResponse, triesLeft = gateways.length): void {
    const gateway = gateways[(turn += 1) % gateways.length];
    if (gateway === undefined || triesLeft === 0) return void response.writeHead(502).end();
    const { method, rawHeaders: headers } = request;
    const upstream = send(new URL(request.url ?? '/', gateway), { method, headers, agent });
    let connected = false;
    const begin = (): void => {
      connected = true;
      request.pipe(upstream);
    };
    upstream.once('socket', (socket: Socket) => {
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    upstream.once('error', () => {
      if (!connected) forward(request, response, triesLeft - 1);
      // The client learns that its request may or may not have been served.
      else response.destroy();
    });
    response.once('close', () => {
      if (!response.writableFinished) upstream.destroy();
    });
  }

  const server = createServer({ requestTimeout: 0 }, (request, response) => forward(request, response));
  server.keepAliveTimeout = 60_000;
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    to(next) {
      gateways = next;
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
