import type { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Server as NetServer } from 'node:net';

/** Sockets that listen on the port of one gateway. */
const together = 8;

/**
 * More servers whose connections are `server`'s: to listen on its port with it, among which the system then deals connections.
 * A turn of the event loop takes one connection from each socket that listens (libuv 1.52), so that of many clients who
 * come at once to a busy gateway, as after a restart, the last would wait for as many turns of milliseconds. Each of them has an
 * equal share of `server`'s most connections from now on. None where the system does not deal (SO_REUSEPORT of Linux).
 */
export function createAcceptors(server: Server): readonly NetServer[] {
  if (process.platform !== 'linux') return [];
  server.maxConnections = Math.ceil(server.maxConnections / together);
  return Array.from({ length: together - 1 }, () => {
    // As an HTTP server makes its own.
    const acceptor = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      server.emit('connection', socket);
    });
    acceptor.maxConnections = server.maxConnections;
    return acceptor;
  });
}
