import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';

export interface ServerLimits {
  /** For the headers of a request, from the connection or the answer before. */
  readonly headersMs: number;
  /** For all of a request. */
  readonly requestMs: number;
  /** How often connections are looked at; a timeout is noticed at most twice this late. */
  readonly lookMs: number;
  /** Between two requests of a connection. */
  readonly restMs: number;
  readonly headerBytes: number;
  readonly connections: number;
}

export const serverLimits: ServerLimits = {
  headersMs: 15_000,
  requestMs: 120_000,
  lookMs: 2_000,
  restMs: 65_000,
  headerBytes: 16 * 1024,
  connections: 10_000,
};

/** Without its listener. `silentMs`, asked at each look: how long a request's connection may be without a byte. */
export function createHttpServer(
  silentMs: () => number,
  limits: ServerLimits = serverLimits,
  messages?: Messages,
): Server {
  const server = createServer({
    ...messages,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.lookMs,
    keepAliveTimeout: limits.restMs,
    maxHeaderSize: limits.headerBytes,
  });
  server.maxConnections = limits.connections;
  // Node's own timeout sets a timer at each read and write of a connection: 5 % of a small call.
  server.timeout = 0;
  closeSilentConnections(server, silentMs, limits.lookMs);
  return server;
}

/** Hands a request that waits for a 100 (RFC 9110 §10.1.1) to the listener as well, which decides whether to send it. */
export function listenForRequests(server: Server, listener: RequestListener): void {
  server.on('request', listener).on('checkContinue', listener);
}

function closeSilentConnections(server: Server, silentMs: () => number, lookMs: number): void {
  const open = new Map<Socket, { bytes: number; since: number }>();
  let looking: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.now();
    const longest = silentMs();
    for (const [socket, seen] of open) {
      // Without what is queued here: a slow reader of one large answer is not silent.
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== seen.bytes) {
        seen.bytes = bytes;
        seen.since = now;
      } else if (now - seen.since >= longest) socket.destroy();
    }
    if (open.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
  server.on('connection', (socket: Socket) => {
    open.set(socket, { bytes: 0, since: performance.now() });
    socket.once('close', () => open.delete(socket));
    looking ??= setInterval(look, lookMs).unref();
  });
}

/** What a server makes its requests and responses of: `createServer` takes them by these names. */
export interface Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** Classes of one server, for one app to adopt. */
export function createMessages(): Messages {
  return {
    IncomingMessage: class extends IncomingMessage {},
    ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {},
  };
}

/**
 * Makes the app's prototypes those that the server's messages have from the start. Express sets them on each message, and
 * that of an object in use costs 5 % of a small call. A server of other messages works as well.
 */
export function adoptMessages(app: Express, { IncomingMessage: request, ServerResponse: response }: Messages): void {
  Object.setPrototypeOf(request.prototype, app.request);
  Object.setPrototypeOf(response.prototype, app.response);
  Object.assign(app, { request: request.prototype, response: response.prototype });
}
