import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { acceptBurstsFirst } from './bursts.ts';
import { serveDirectly } from './direct/index.ts';
import type { DirectCalls } from './direct/index.ts';

export interface ServerLimits {
  /** For the headers of a request, from the connection or the answer before. */
  readonly headersMs: number;
  /** For all of a request. */
  readonly requestMs: number;
  /** How often these are looked at: so much later they are noticed, twice as much by who serves calls directly. */
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

/**
 * @param silentMs how long a connection may be open without a byte in either direction while a request is answered.
 * @param calls served without node:http where they can be.
 */
export function createHttpServer(silentMs: number, limits: ServerLimits = serverLimits, calls?: DirectCalls): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.lookMs,
    keepAliveTimeout: limits.restMs,
    maxHeaderSize: limits.headerBytes,
  });
  server.maxConnections = limits.connections;
  server.setTimeout(silentMs);
  if (calls) serveDirectly(server, calls, limits);
  acceptBurstsFirst(server);
  return server;
}
