import { Socket, connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, TLSSocket, type ConnectionOptions } from 'node:tls';
import type { Client } from 'pg';

const cancelCode = 80_877_102;
const tlsCode = 80_877_103;

/**
 * Asks the server to stop what a connection of ours runs, over a second connection as the protocol wants it (CancelRequest).
 * Resolves when the server has taken it, or when `timeoutMs` have passed: whether anything was running it does not say.
 */
export async function cancel(client: Client, timeoutMs: number): Promise<void> {
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
    if (client.connection.stream instanceof TLSSocket) sendSecured(socket, request, client.host, securityOf(client));
    else socket.end(request);
  });
  await promise;
  clearTimeout(timer);
}

/** As the driver has settled them: what the URL says of TLS goes before what the configuration does. */
function securityOf(client: Client): ConnectionOptions {
  const settled: unknown = Reflect.get(client, 'ssl');
  return typeof settled === 'object' && settled !== null ? settled : {};
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
    const name = options.servername ?? host;
    const secured = connectTls({ host, ...options, socket, ...(isIP(name) === 0 && { servername: name }) });
    secured.on('error', () => socket.destroy());
    secured.once('secureConnect', () => secured.end(request));
  });
}

const arrivals = Buffer.allocUnsafeSlow(128 << 10);

/**
 * A socket whose reads share one buffer, valid until the listener returns. A new 64 KiB buffer for each read made the garbage
 * collector run full collections often.
 */
export class SharingSocket extends Socket {
  /** Set once no `data` listener keeps the bytes. Until then, each gets a copy. */
  shares = false;

  constructor() {
    super({
      onread: {
        buffer: arrivals,
        callback: (bytes, buffer) => {
          const arrived = Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
          this.emit('data', this.shares ? arrived : Buffer.from(arrived));
          return true;
        },
      },
    });
  }
}
