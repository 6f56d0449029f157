import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callTool } from './support/call.ts';
import { createKey, exchange, removeDirectory, root, temporaryDirectory } from './support/gateway.ts';
import { nodeOptions } from './support/start-command.ts';

let directory = '';
let url = '';
let output = '';
let app: ChildProcess;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  taken.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
  app = spawn(
    process.execPath,
    [...nodeOptions, '--conditions=sightline-source', join(root, 'examples', 'express-app', 'server.ts')],
    {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', PORT: String(address.port), DATA: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  app.stdout?.on('data', (chunk) => (output += String(chunk)));
  app.stderr?.on('data', (chunk) => (output += String(chunk)));
  while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
    if (app.exitCode !== null) throw new Error(`the example did not start:\n${output}`);
    await delay(50);
  }
});
afterAll(async () => {
  if (app.exitCode === null) app.kill('SIGKILL');
  await removeDirectory(directory);
});

it('serves its own routes and the gateway’s in one Express app, and ends when it is asked to', async () => {
  expect(await (await fetch(`${url}/hello`)).text()).toBe('Hello from your own app.');
  expect((await fetch(`${url}/mcp`, { method: 'POST' })).status).toBe(401);
  const token = await exchange(url, await createKey(directory, 'acme'));
  expect(await callTool(url, token, 'query_otel', { sql: 'SELECT 1 AS one' })).toMatchObject({ isError: false });
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  app.kill('SIGTERM');
  await once(app, 'exit');
  expect(app.exitCode).toBe(0);
});
