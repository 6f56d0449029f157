import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../../contract/core/index.ts';
import { listenForRequests } from '../http/server.ts';
import type { Listener } from './cradle.ts';

/** A client that was answered this long ago and sent nothing since is not about to. */
const restMs = 1_000;
const lookEveryMs = 50;
/** Turns of the event loop without a new connection, after which the system's queue of them is empty; and the longest wait. */
const quietTurns = 10;
const longestQueueMs = 250;

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** A server's connections with the latest answer on each: all that has to be noted of a request, so that none is cut off. */
export class Connections {
  /** Answers the requests. */
  listener: Listener = notYet;
  readonly #server: Server;
  readonly #latest = new Map<Socket, ServerResponse | undefined>();
  #accepted = 0;
  /** Requests that wait until the port is closed. */
  #waiting: (() => void)[] | undefined;

  /** @param onGrpc told the address of a sender that speaks HTTP/2 here, as gRPC does. */
  constructor(server: Server, onGrpc: (address: string | undefined) => void = () => undefined) {
    this.#server = server;
    server.on('clientError', (error: Error, socket: Socket) => {
      if (beginsHttp2(error)) onGrpc(socket.remoteAddress);
      this.#refuse(error, socket);
    });
    server.on('connection', (socket: Socket) => {
      this.#accepted += 1;
      this.#latest.set(socket, undefined);
      socket.once('close', () => this.#latest.delete(socket));
    });
    listenForRequests(server, (request, response) => this.#serve(request, response));
  }

  /** At once, unless the port is just being closed. */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(request.socket, response);
    if (!this.#server.listening) response.shouldKeepAlive = false;
    if (this.#waiting) this.#waiting.push(() => this.listener(request, response));
    else this.listener(request, response);
  }

  /** As Node answers what it cannot parse, if it is not asked: not into an answer that is under way. */
  #refuse(error: Error, socket: Socket): void {
    const latest = this.#latest.get(socket);
    const status = statuses[String(errorCode(error))] ?? 400;
    if (socket.writable && (latest === undefined || latest.writableFinished || !latest.headersSent)) {
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroySoon();
  }

  /**
   * Stops accepting and lets requests in flight finish, and those that kept-alive clients are sending at this moment: a
   * connection is closed with its next answer, or after a second without a request. Cuts what is left at the deadline (ms).
   */
  async drain(deadlineMs: number): Promise<void> {
    if (!this.#server.listening) return;
    await this.#acceptQueued();
    let open = true;
    const closed = new Promise<void>((resolve) => {
      // An HTTP server's own `close` would cut every connection that is between two requests.
      NetServer.prototype.close.call(this.#server, () => resolve());
    }).then(() => {
      open = false;
    });
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const run of waiting) run();
    const restingSince = new Map<Socket, number>();
    const deadline = performance.now() + deadlineMs;
    while (open && performance.now() < deadline) {
      for (const [socket, response] of this.#latest) {
        if (response === undefined || response.writableFinished) {
          const since = restingSince.get(socket) ?? performance.now();
          restingSince.set(socket, since);
          if (performance.now() - since >= restMs) socket.destroy();
        } else {
          restingSince.delete(socket);
          if (!response.headersSent) response.shouldKeepAlive = false;
        }
      }
      await Promise.race([closed, delay(lookEveryMs)]);
    }
    for (const socket of this.#latest.keys()) socket.destroy();
    await closed;
  }

  /** Accepts the queued connections, one a turn, which closing the port would reset. Requests wait meanwhile. */
  async #acceptQueued(): Promise<void> {
    this.#waiting = [];
    const until = performance.now() + longestQueueMs;
    for (let quiet = 0; quiet < quietTurns && performance.now() < until;) {
      const before = this.#accepted;
      await new Promise(setImmediate);
      quiet = this.#accepted === before ? quiet + 1 : 0;
    }
  }
}

/** Answers until the app is built. */
function notYet(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end();
}

/** RFC 9113 §3.4 */
function beginsHttp2(error: Error): boolean {
  return 'rawPacket' in error && error.rawPacket instanceof Buffer && error.rawPacket.indexOf('PRI * HTTP/2.0') === 0;
}
