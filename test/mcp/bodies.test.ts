import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';

describe('a body', () => {
  let server: TestServer;
  let token: string;

  beforeAll(async () => {
    server = await startMcpServer({ tools: [] });
    token = await server.mint();
  });
  afterAll(() => server.stop());

  /** Writes these one after the other on a connection of its own; all that comes back. */
  async function send(head: string, ...pieces: readonly string[]): Promise<string> {
    const { port } = new URL(server.origin);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    const closed = once(socket, 'close');
    const fields = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Connection: close',
      head,
    ];
    const [first = '', ...rest] = pieces;
    socket.write(`${fields.join('\r\n')}\r\n\r\n${first}`);
    for (const piece of rest) {
      await delay(5);
      socket.write(piece);
    }
    await closed;
    return received;
  }

  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const pong = /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{"jsonrpc":"2\.0","id":1,"result":\{\}\}$/;

  it('in chunks that come in one packet is read to its end', async () => {
    const body = `${chunk(ping.slice(0, 9))}${chunk(ping.slice(9))}${chunk('').slice(0, -2)}\r\n`;
    expect(await send('Transfer-Encoding: chunked', body)).toMatch(pong);
  });

  it('is not run where only its first chunk is valid', async () => {
    const body = `${chunk(ping)}${chunk('{}')}${chunk('').slice(0, -2)}\r\n`;
    expect(await send('Transfer-Encoding: chunked', body)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('of 80 KB is read to its end, in one piece and in several', async () => {
    const large = `${ping.slice(0, -1)},"params":{"_meta":{"filler":"${'x'.repeat(80 * 1024)}"}}}`;
    const length = `Content-Length: ${large.length}`;
    expect(await send(length, large)).toMatch(pong);
    const pieces = Array.from({ length: 5 }, (_, n) => large.slice(n * 17_000, (n + 1) * 17_000));
    expect(await send(length, ...pieces)).toMatch(pong);
  });

  it('of an answer without one is said to be empty', async () => {
    const notice = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const received = await send(`Content-Length: ${notice.length}`, notice);
    expect(received).toMatch(/^HTTP\/1\.1 202 /);
    expect(received).toMatch(/content-length: 0\r\n/);
    expect(received).not.toMatch(/chunked/i);
  });

  it('is not read where the request has two Host fields', async () => {
    expect(await send(`Host: 127.0.0.1\r\nContent-Length: ${ping.length}`, ping)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
