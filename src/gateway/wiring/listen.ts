import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { SightlineError, errorCode } from '../../contract/core/index.ts';
import type { PartHealth } from '../process/lifecycle.ts';
import type { Config } from '../config/schema.ts';

/** Whether requests are served, as the readiness probe and the listener see it. */
export interface Serving {
  ready: boolean;
  health: () => Promise<Readonly<Record<string, PartHealth>>>;
}

/** A `read_chat` may wait 25 s; a query as long as the configuration lets it. */
export function longestCallMs({ limits }: Config): number {
  return Math.max(25_000, limits.queryTimeoutSeconds * 1_000);
}

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
};

const ownPort = 'Choose another with --port N, SIGHTLINE_PORT or listen.port; 0 takes a free one.';

/** Answers the port. Throws `unavailable` with what to do. */
export async function listen(server: Server, address: ListenAddress, hint = ownPort): Promise<number> {
  const { host, port } = address;
  try {
    server.listen(address);
    await once(server, 'listening');
  } catch (cause) {
    const why = reasons[String(errorCode(cause))] ?? 'the operating system refused';
    throw new SightlineError('unavailable', `Cannot listen on ${host}, port ${port}: ${why}.`, { cause, hint });
  }
  const bound = server.address();
  return bound === null || typeof bound === 'string' ? port : bound.port;
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
