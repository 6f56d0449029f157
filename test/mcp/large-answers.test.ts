import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../src/contract/core/index.ts';
import { startMcpServer, type TestServer } from '../support/mcp-server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Rows of nothing but one letter. */
const letters = defineTool({
  name: 'letters',
  title: 'letters',
  description: 'letters',
  scope: 'telemetry:read',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ letter: z.string(), count: z.int() }),
  output: z.object({}),
  run: async ({ letter, count }) => {
    const row = `["${letter.repeat(98)}"]`;
    const rows = Buffer.from(Array.from({ length: count }, () => row).join(','));
    return { structured: { before: '{"rows":[', rows, after: ']}' }, text: { before: 'is\n', rows, after: '\n.' } };
  },
});

const answered = z.object({
  result: z.object({
    content: z.tuple([z.object({ text: z.string() })]),
    structuredContent: z.object({ rows: z.array(z.tuple([z.string()])) }),
  }),
});

/** Sends a call; what is answered stays with the kernel until `read`. */
async function ask(url: URL, token: string, letter: string, count: number): Promise<Socket> {
  const params = { name: 'letters', arguments: { letter, count } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  socket.pause();
  const headers = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close`;
  socket.write(`POST ${url.pathname} HTTP/1.1\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

async function read(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(chunks).toString();
}

function expectNothingBut(letter: string, count: number, response: string): void {
  const { result } = answered.parse(JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)));
  const line = letter.repeat(98);
  expect(new Set(result.structuredContent.rows.flat())).toEqual(new Set([line]));
  expect(result.structuredContent.rows.length).toBe(count);
  expect(result.content[0].text).toBe(`is\n${Array.from({ length: count }, () => line).join('\n')}\n.`);
}

describe('large answers', () => {
  it('hold what was asked for, however late their readers come and whatever is answered meanwhile', async () => {
    server = await startMcpServer({ tools: [letters] });
    const url = new URL(server.url);
    const token = await server.mint();
    // More than the kernel keeps for a socket, so that the rest waits in our memory.
    const late = await Promise.all(['a', 'b', 'c'].map((letter) => ask(url, token, letter, 26_000)));
    await wait(300);
    for (const letter of ['d', 'e', 'f', 'g']) {
      for (const count of [200, 2_000, 26_000]) {
        expectNothingBut(letter, count, await read(await ask(url, token, letter, count)));
      }
    }
    for (const [index, socket] of late.entries()) {
      expectNothingBut('abc'.charAt(index), 26_000, await read(socket));
    }
  });
});
