import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Answers what served the connections of this server until now, and no longer does unless it is called. */
export function takeConnections(server: Server): (socket: Socket) => void {
  const [own, ...others] = server.listeners('connection');
  if (own === undefined || others.length > 0) throw new Error('somebody else serves the connections of this server');
  server.removeAllListeners('connection');
  return (socket) => void Reflect.apply(own, server, [socket]);
}
