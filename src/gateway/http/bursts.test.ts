import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { acceptBurstsFirst } from './bursts.ts';

const burst = 40;
/** Of a request, by which the turns of the loop in which one is answered are told from those in which none is. */
const workMs = 3;
const body = 'x'.repeat(20_000);
const request = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

/** With it, how many connections had been accepted when each request came. */
async function start(prepare: (to: Server) => void): Promise<{ readonly port: number; readonly accepted: number[] }> {
  const accepted: number[] = [];
  let connections = 0;
  server = createServer((message, response) => {
    accepted.push(connections);
    const end = performance.now() + workMs;
    while (performance.now() < end);
    let length = 0;
    message.on('data', (chunk: Buffer) => (length += chunk.length));
    message.on('end', () => response.end(`${length} came`));
  });
  prepare(server);
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, accepted };
}

/** Connects and asks at once; resolves once the whole request was answered. */
async function ask(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  sockets.push(socket);
  let answer = '';
  while (!answer.endsWith(`${body.length} came`)) {
    const [chunk]: unknown[] = await once(socket, 'data');
    answer += String(chunk);
  }
}

/** Connects so many times and asks; counts who has done so in `counted`, and ends once each was answered. */
const clients = `
  const { connect } = require('node:net');
  const { port, request, end, burst, counted } = require('node:worker_threads').workerData;
  const asked = new Int32Array(counted);
  for (let client = 0; client < burst; client += 1) {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(request);
      Atomics.add(asked, 0, 1);
      Atomics.notify(asked, 0);
    });
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
      if (answer.endsWith(end)) socket.destroy();
    });
  }
`;

/**
 * A burst from another thread, for which this one waits: all have connected and asked before the first is accepted, however
 * slowly a busy machine's kernel takes them. Resolves once each was answered.
 */
async function askAtOnce(port: number): Promise<void> {
  const counted = new SharedArrayBuffer(4);
  const end = `${body.length} came`;
  const worker = new Worker(clients, { eval: true, workerData: { port, request, end, burst, counted } });
  const exited = once(worker, 'exit');
  const asked = new Int32Array(counted);
  for (let before = 0; before < burst; before = Atomics.load(asked, 0)) {
    if (Atomics.wait(asked, 0, before, 10_000) === 'timed-out') throw new Error(`${before} of ${burst} clients came`);
  }
  await exited;
}

describe('a burst of connections', () => {
  it('is accepted before a request of it is read, but the first, and each is answered', async () => {
    const { port, accepted } = await start((to) => acceptBurstsFirst(to, 5_000));
    await askAtOnce(port);
    expect(accepted).toHaveLength(burst);
    expect(Math.min(...accepted.slice(1))).toBe(burst);
  });

  it('would be accepted one by one between requests', async () => {
    const { port, accepted } = await start(() => undefined);
    await askAtOnce(port);
    expect(accepted.filter((count) => count < burst).length).toBeGreaterThan(burst / 2);
  });

  it('is held back no longer than it may, however long connections go on to come', async () => {
    const { port, accepted } = await start((to) => acceptBurstsFirst(to, 0));
    await askAtOnce(port);
    expect(accepted).toHaveLength(burst);
    expect(accepted.filter((count) => count < burst).length).toBeGreaterThan(burst / 2);
  });

  it('is served while in each turn of the loop one more connection comes', async () => {
    let served = 0;
    server = createServer().removeAllListeners('connection');
    server.on('connection', () => (served += 1));
    acceptBurstsFirst(server, 20);
    const end = performance.now() + 1_000;
    // The first comes alone, and is not held back.
    while (served < 2 && performance.now() < end) {
      server.emit('connection', new Socket());
      await nextTurn();
    }
    expect(served).toBeGreaterThan(1);
  });

  it('survives clients that leave while they are held back', async () => {
    const { port, accepted } = await start((to) => acceptBurstsFirst(to, 5_000));
    const leaving = Array.from({ length: burst }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.resetAndDestroy();
    });
    await Promise.all([...leaving, askAtOnce(port)]);
    expect(accepted).toHaveLength(burst);
  });

  it('lets go of clients that are done before they are served', async () => {
    const ended = Promise.withResolvers<void>();
    let open = 0;
    const { port } = await start((to) => {
      acceptBurstsFirst(to, 5_000);
      to.on('connection', (socket: Socket) => {
        open += 1;
        socket.once('close', () => {
          open -= 1;
          if (open === 0) ended.resolve();
        });
      });
    });
    for (let count = 0; count < burst; count += 1) {
      const socket = connect({ port, allowHalfOpen: true });
      sockets.push(socket);
      socket.end();
    }
    await ended.promise;
  });

  it('lets a connection that comes alone wait for nothing', async () => {
    const { port, accepted } = await start((to) => acceptBurstsFirst(to, 5_000));
    await ask(port);
    expect(accepted).toEqual([1]);
  });
});

it('is not for a server whose connections somebody else serves too', () => {
  const other = createServer();
  other.on('connection', () => undefined);
  expect(() => acceptBurstsFirst(other)).toThrow('somebody else');
});
