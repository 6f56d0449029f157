import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ListenOptions, Server } from 'node:net';
import { SightlineError } from '../../contract/core/index.ts';
import { errorField } from '../process/error-field.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const ownPort = 'Choose another with --port N, SIGHTLINE_PORT or listen.port; 0 takes a free one.';

/** Answers the port. Throws `unavailable` with what to do. */
export async function listen(server: Server, address: ListenAddress, hint = ownPort): Promise<number> {
  return await open(server, address, address, hint);
}

/** The same with others on one port, among which the system deals connections. */
export async function listenTogether(
  server: Server,
  others: readonly Server[],
  address: ListenAddress,
): Promise<number> {
  if (others.length === 0) return await listen(server, address);
  const { host, port: wanted } = address;
  const guard = createServer((socket) => void socket.destroy());
  try {
    // Whoever would share a port is not told that another gateway does so already, so it is looked at before; and of two that
    // start at once one alone may look and listen. A free port is shared with nobody.
    if (wanted !== 0) {
      // The name of such a socket has 107 bytes at most.
      await open(guard, { path: `\0sightline ${wanted} ${host.slice(0, 64)}` }, address, ownPort);
      await choosePort(address);
    }
    const port = await open(server, { ...address, reusePort: true }, address, ownPort);
    for (const other of others) await open(other, { host, port, reusePort: true }, { host, port }, ownPort);
    return port;
  } finally {
    guard.close();
  }
}

async function open(
  server: Server,
  where: ListenOptions,
  { host, port }: ListenAddress,
  hint: string,
): Promise<number> {
  try {
    server.listen(where);
    await once(server, 'listening');
  } catch (cause) {
    const code = errorField(cause, 'code');
    const why =
      code === 'EADDRINUSE'
        ? 'another program listens there'
        : code === 'EACCES'
          ? 'this user may not'
          : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
            ? 'this machine has no such address'
            : 'the operating system refused';
    throw new SightlineError('unavailable', `Cannot listen on ${host}, port ${port}: ${why}.`, {
      cause,
      hint,
    });
  }
  const address = server.address();
  return address === null || typeof address === 'string' ? port : address.port;
}

/** The port that others are to listen on. Throws as `listen` does. */
export async function choosePort(address: ListenAddress): Promise<number> {
  const server = createServer();
  const port = await listen(server, address);
  server.close();
  await once(server, 'close');
  return port;
}

/** Where the commands of this machine reach the gateway, whatever stands before it for others. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
