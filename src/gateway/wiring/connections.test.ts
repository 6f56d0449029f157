import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createHttpServer } from '../http/server.ts';
import { Connections } from './connections.ts';
import { listen } from './listen.ts';

/** Clients with a connection for each request, until the port is closed; says how each request ended. */
const clients = `
  const { request } = require('node:http');
  const ended = {};
  const ask = () => new Promise((resolve) => {
    const asked = request({ port: Number(process.argv[1]), host: '127.0.0.1', agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode)).on('error', (error) => resolve(error.code));
    });
    asked.on('error', (error) => resolve(error.code)).end();
  });
  const loop = async () => {
    for (let how; how !== 'ECONNREFUSED'; ) { how = await ask(); ended[how] = (ended[how] ?? 0) + 1; }
  };
  Promise.all(Array.from({ length: 32 }, loop)).then(() => console.log(JSON.stringify(ended)));
`;

it('resets no connection that was made before the port closed', async () => {
  const server = createHttpServer(() => 60_000);
  const connections = new Connections(server);
  connections.listener = (_request, response) => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    response.end('here');
  };
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const child = spawn(process.execPath, ['-e', clients, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const exited = once(child, 'exit');
  await once(server, 'request');
  await delay(500);
  await connections.drain(10_000);
  await exited;
  expect(JSON.parse(output)).toEqual({ '200': expect.any(Number), ECONNREFUSED: 32 });
});
