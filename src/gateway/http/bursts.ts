import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { takeConnections } from './take-connections.ts';

/** Sooner after the one before, a connection is one of a burst. */
const burstMs = 5;
const ignore = (): void => undefined;

/**
 * Accepts the connections of a burst before it reads a request of any. A turn of the event loop accepts one connection of
 * each socket that listens, and without requests a turn is microseconds long: else of many clients who come at once, as after a
 * restart, the last is accepted after the requests of all before it. A connection that comes alone waits for nothing.
 * @param longestMs the longest that a connection is held back: 5 ms.
 */
export function acceptBurstsFirst(server: Server, longestMs = 5): void {
  const serve = takeConnections(server);
  const held: Socket[] = [];
  let before = -Infinity;
  let since = 0;
  let grew = false;

  function look(): void {
    if (grew && performance.now() - since < longestMs) {
      grew = false;
      setImmediate(look);
      return;
    }
    for (const socket of held.splice(0)) {
      socket.off('error', ignore);
      // Whoever serves it would not hear again that it has ended.
      if (socket.readableEnded) socket.destroy();
      else if (!socket.destroyed) serve(socket);
    }
  }

  server.on('connection', (socket: Socket) => {
    const now = performance.now();
    const alone = now - before >= burstMs;
    before = now;
    if (alone && held.length === 0) return serve(socket);
    // A client that leaves meanwhile is nobody's error yet.
    socket.on('error', ignore);
    grew = true;
    if (held.push(socket) > 1) return;
    since = now;
    setImmediate(look);
  });
}
