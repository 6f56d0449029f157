import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Connections } from './connections.ts';
import { listen, listenTogether } from './listen.ts';
import { createAcceptors } from '../http/acceptors.ts';
import { createHttpServer, serverLimits } from '../http/server.ts';

const address = { host: '127.0.0.1', port: 0 };
const clients = 64;

const open: Connections[] = [];
afterEach(async () => {
  for (const connections of open.splice(0)) await connections.drain(0);
});

function gateway(limits = serverLimits): { server: Server; acceptors: ReturnType<typeof createAcceptors> } {
  const server = createHttpServer(60_000, limits);
  server.on('request', (_request, response) => response.end('here'));
  const acceptors = createAcceptors(server);
  open.push(new Connections(server, acceptors));
  return { server, acceptors };
}

/** How many turns of an event loop that is busy pass until all clients are connected who come at once. */
async function turnsFor(server: Server, port: number): Promise<number> {
  let turns = 0;
  const accepted: number[] = [];
  server.on('connection', () => accepted.push(turns));
  const program = `for (let n = 0; n < ${clients}; n += 1) require('net').connect(${port}, '127.0.0.1').on('error', () => {})`;
  const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  try {
    for (; accepted.length < clients; turns += 1) {
      const until = performance.now() + 3;
      while (performance.now() < until);
      await new Promise(setImmediate);
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  return (accepted.at(-1) ?? 0) - (accepted[0] ?? 0);
}

const described = process.platform === 'linux' ? describe : describe.skip;

described('a gateway with several sockets that listen', () => {
  it('takes many clients who come at once in a few turns of a busy event loop, and not in one each', async () => {
    const one = gateway();
    expect(await turnsFor(one.server, await listen(one.server, address))).toBeGreaterThanOrEqual(clients / 2);
    const many = gateway();
    const port = await listenTogether(many.server, many.acceptors, address);
    expect(await turnsFor(many.server, port)).toBeLessThan(clients / 2);
  });

  it('shares its port with no other', async () => {
    const ports = new Set<number>();
    for (let n = 0; n < 20; n += 1) {
      const { server, acceptors } = gateway();
      ports.add(await listenTogether(server, acceptors, address));
    }
    expect(ports.size).toBe(20);
    const [port = 0] = ports;
    const { server, acceptors } = gateway();
    await expect(listenTogether(server, acceptors, { ...address, port })).rejects.toMatchObject({
      message: expect.stringContaining('another program listens there'),
    });
  });

  it('shares a named port with none that starts at the same moment', async () => {
    const one = gateway();
    const port = await listen(one.server, address);
    await open.pop()?.drain(0);
    for (let turn = 0; turn < 10; turn += 1) {
      const both = [gateway(), gateway()];
      const tries = await Promise.allSettled(
        both.map(({ server, acceptors }) => listenTogether(server, acceptors, { ...address, port })),
      );
      expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      for (const connections of open.splice(0)) await connections.drain(0);
    }
  });

  it('answers on each of them, and on none any more once it is drained', async () => {
    const { server, acceptors } = gateway();
    const port = await listenTogether(server, acceptors, address);
    const answers = await Promise.all(
      Array.from({ length: clients }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text()),
    );
    expect(new Set(answers)).toEqual(new Set(['here']));
    await open.pop()?.drain(5_000);
    expect([server, ...acceptors].map(({ listening }) => listening)).toEqual(Array.from({ length: 8 }, () => false));
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('keeps to the most connections, all together', async () => {
    const { server, acceptors } = gateway({ ...serverLimits, connections: 16 });
    const port = await listenTogether(server, acceptors, address);
    const sockets = Array.from({ length: clients }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const alive = () => sockets.filter((socket) => !socket.closed).length;
    for (let tries = 0; tries < 100 && alive() > 16; tries += 1) await new Promise((done) => setTimeout(done, 20));
    expect(alive()).toBeLessThanOrEqual(16);
    expect(alive()).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
  });
});
