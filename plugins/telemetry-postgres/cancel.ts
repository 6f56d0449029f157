import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Client } from 'pg';

const cancelCode = 80_877_102;
const tlsCode = 80_877_103;

/**
 * Asks the server to stop what a connection of ours runs, over a second connection as the protocol wants it (CancelRequest).
 * Resolves when the server has taken it, or when `timeoutMs` have passed: whether anything was running it does not say.
 */
export async function cancel(client: Client, ssl: boolean | ConnectionOptions, timeoutMs: number): Promise<void> {
  const processId: unknown = Reflect.get(client, 'processID');
  const secretKey: unknown = Reflect.get(client, 'secretKey');
  if (typeof processId !== 'number' || typeof secretKey !== 'number') return;
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(cancelCode, 4);
  request.writeInt32BE(processId, 8);
  request.writeInt32BE(secretKey, 12);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const socket = client.host.startsWith('/')
    ? connectTcp(`${client.host}/.s.PGSQL.${client.port}`)
    : connectTcp(client.port, client.host);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  socket.on('error', () => {});
  socket.on('close', () => resolve(undefined));
  socket.once('connect', () => {
    if (ssl === false) socket.end(request);
    else sendSecured(socket, request, client.host, ssl === true ? {} : ssl);
  });
  await promise;
  clearTimeout(timer);
}

/** Servers behind a proxy may take nothing that is not encrypted; one without TLS answers `N` and gets nothing. */
function sendSecured(socket: Socket, request: Buffer, host: string, options: ConnectionOptions): void {
  const hello = Buffer.alloc(8);
  hello.writeInt32BE(8, 0);
  hello.writeInt32BE(tlsCode, 4);
  socket.write(hello);
  socket.once('data', (answer) => {
    if (answer.toString('latin1') !== 'S') {
      socket.destroy();
      return;
    }
    const secured = connectTls({ ...options, socket, servername: options.servername ?? host });
    secured.on('error', () => socket.destroy());
    secured.once('secureConnect', () => secured.end(request));
  });
}
