import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createKey,
  exchange,
  removeDirectory,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

const attackMs = 8_000;
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

describe('strangers', () => {
  let gateway: RunningGateway;
  let directory = '';
  let token = '';
  let port = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
    port = Number(new URL(gateway.url).port);
    token = await exchange(gateway.url, await createKey(directory, 'acme'));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
    await removeDirectory(directory);
  });

  async function stranger(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    await once(socket, 'connect');
    return socket;
  }

  /** How an authenticated client's calls are answered while `attack` goes on. */
  async function statusesDuring(attack: (signal: AbortSignal) => Promise<void>): Promise<Record<number, number>> {
    const ending = AbortSignal.timeout(attackMs);
    const attacking = attack(ending);
    const statuses: Record<number, number> = {};
    while (!ending.aborted) {
      const { status } = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: ping,
      });
      statuses[status] = (statuses[status] ?? 0) + 1;
      await delay(50);
    }
    await attacking;
    for (const socket of sockets) socket.destroy();
    return statuses;
  }

  it('who pipeline 9,000 requests each 1.9 s on one connection keep no authenticated call out', async () => {
    const request = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`;
    const batch = request.repeat(9_000);
    const statuses = await statusesDuring(async (signal) => {
      while (!signal.aborted) {
        const socket = await stranger();
        socket.pause().write(batch);
        await delay(1_900);
      }
    });
    expect(Object.keys(statuses)).toEqual(['200']);
    expect(statuses[200]).toBeGreaterThan(10);
  });

  it('who half-send 280 forms a second keep no authenticated call out', async () => {
    const half = `POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant_type=`;
    let refused = 0;
    const statuses = await statusesDuring(async (signal) => {
      while (!signal.aborted) {
        const began = performance.now();
        const opened = await Promise.all(Array.from({ length: 28 }, stranger));
        for (const socket of opened) {
          socket.on('data', (answer) => {
            if (String(answer).startsWith('HTTP/1.1 503')) refused += 1;
          });
          socket.write(half);
        }
        await delay(Math.max(0, 100 - (performance.now() - began)));
      }
    });
    expect(Object.keys(statuses)).toEqual(['200']);
    expect(statuses[200]).toBeGreaterThan(10);
    // The attack is one: their own lane is full.
    expect(refused).toBeGreaterThan(100);
  });

  it.each([0.25, 1, 4])('who send %d MB of telemetry with a wrong token read that it is refused', async (megabytes) => {
    const length = megabytes * 1024 * 1024;
    for (let turn = 0; turn < 8; turn += 1) {
      const socket = await stranger();
      let answer = '';
      socket.on('data', (chunk) => (answer += String(chunk)));
      const closed = once(socket, 'close');
      socket.write(
        `POST /v1/logs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nAuthorization: Bearer wrong\r\nContent-Length: ${length}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(length, ' '));
      await closed;
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    }
  });
});
