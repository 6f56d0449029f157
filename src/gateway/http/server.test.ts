import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createHttpServer, serverLimits } from './server.ts';

const quick = { ...serverLimits, headersMs: 200, requestMs: 400, lookMs: 50, restMs: 200 };

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
});

async function start(limits = quick, silentMs = 60_000, answer = true): Promise<Server> {
  server = createHttpServer(() => silentMs, limits);
  server.on('request', (request, response) => {
    request.resume();
    request.on('error', () => {});
    if (answer) request.on('end', () => response.end('whole'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** All that comes back on a connection until the server ends it. */
async function sent(to: Server, text: string): Promise<string> {
  const socket = await open(to);
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.write(text);
  await closed;
  return received;
}

async function open(to: Server): Promise<Socket> {
  const address = to.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address satisfies AddressInfo;
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

describe('the server', () => {
  it('ends a request whose headers or body do not come', async () => {
    const to = await start();
    expect(await sent(to, 'POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ')).toMatch(/^HTTP\/1\.1 408 /);
    expect(await sent(to, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nslow')).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('ends a connection on which nothing is ever sent', async () => {
    const to = await start();
    expect(await sent(to, '')).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('ends a connection that rests after an answer', async () => {
    expect(await sent(await start(), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('refuses headers that are too large', async () => {
    const to = await start();
    expect(await sent(to, `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(17_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  it('ends a connection that is silent for too long, whatever it waits for', async () => {
    expect(await sent(await start(quick, 300, false), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
  });

  it('takes no more connections than it may', async () => {
    const to = await start({ ...serverLimits, connections: 2 });
    const accepted = [await open(to), await open(to)];
    const third = await open(to);
    await once(third.resume(), 'close');
    expect(accepted.map(({ closed }) => closed)).toEqual([false, false]);
  });
});
