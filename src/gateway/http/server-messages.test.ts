import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { adoptMessages, createMessages, type Messages } from './server.ts';
import { listen } from '../wiring/listen.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The address that an app of these messages sees a client come from, and whether Express left the message as it was made. */
async function ask(trustProxy: boolean, messages: Messages): Promise<unknown> {
  const app = express();
  adoptMessages(app, messages);
  app.set('trust proxy', trustProxy);
  app.all('/', (request, response) => {
    const unchanged =
      Object.getPrototypeOf(request) === messages.IncomingMessage.prototype &&
      Object.getPrototypeOf(response) === messages.ServerResponse.prototype;
    response.json({ ip: request.ip, unchanged });
  });
  const server = createServer({ ...messages }, app);
  servers.push(server);
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const headers = { 'x-forwarded-for': '192.0.2.1', connection: 'close' };
  return await (await fetch(`http://127.0.0.1:${port}/`, { headers })).json();
}

test('a message has the prototypes of its app from the start, and each app its own', async () => {
  const trusting = ask(true, createMessages());
  const wary = ask(false, createMessages());
  expect(await trusting).toEqual({ ip: '192.0.2.1', unchanged: true });
  expect(await wary).toEqual({ ip: '127.0.0.1', unchanged: true });
});
