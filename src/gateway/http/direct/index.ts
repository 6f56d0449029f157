import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { takeConnections } from '../take-connections.ts';
import type { ServerLimits } from '../server.ts';
import { DirectConnection } from './connection.ts';
import type { DirectOptions } from './connection.ts';

export interface DirectCalls extends Pick<DirectOptions, 'onCall'> {
  /** The paths that calls are sent to. */
  readonly paths: readonly string[];
}

/**
 * Serves calls straight from their sockets: POST to one of a few paths, written as every parser must read it and there as a
 * whole. A connection on which anything else comes is node:http's from its first byte that was not served on. node:http takes
 * as long for a small call as all the rest.
 */
export function serveDirectly(server: Server, { paths, onCall }: DirectCalls, limits: ServerLimits): void {
  const others = takeConnections(server);
  const open = new Set<DirectConnection>();
  const options: DirectOptions = {
    open,
    starts: paths.map((path) => `POST ${path} HTTP/1.1\r\n`),
    headerBytes: limits.headerBytes,
    headersMs: limits.headersMs,
    restMs: limits.restMs,
    silentMs: () => server.timeout,
    stays: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(limits.restMs / 1_000)}\r\n`,
    onCall,
    others,
  };
  // One timer for all of them: one of its own would be set anew at each read and write of a connection.
  let looking: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.now();
    for (const connection of open) connection.look(now);
    if (open.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
  server.on('connection', (socket: Socket) => {
    new DirectConnection(socket, options);
    looking ??= setInterval(look, limits.lookMs).unref();
  });
}
