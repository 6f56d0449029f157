import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { listen } from './support/listen.ts';
import { until } from './support/workers.ts';

/* A whole gateway and a receiver that checks signatures by itself, as a company would write one. */

const added = z.object({ id: z.string(), secret: z.string() });
const listed = z.array(z.object({ id: z.string(), waiting: z.number(), address: z.string() }));
const body = z.object({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.looseObject({ url: z.string().optional() }),
});
interface Heard extends z.output<typeof body> {
  readonly id: string;
  readonly at: string;
}

const heard: Heard[] = [];
let refusing = 0;
let secret = '';
let receiver: Server;
let directory = '';
let gateway: RunningGateway;
let webhook = '';
let url = '';

const chats = () => heard.filter(({ type }) => type === 'chat.created');

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  const [id, seconds] = [String(request.headers['webhook-id']), String(request.headers['webhook-timestamp'])];
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')}`;
  if (request.headers['webhook-signature'] !== expected) return void response.writeHead(401).end();
  heard.push({ ...body.parse(JSON.parse(text)), id, at: request.url ?? '' });
  if (refusing > 0) {
    refusing -= 1;
    return void response.writeHead(503).end('Ask later: secret words of the receiver');
  }
  return void response.writeHead(204).end();
}

beforeAll(async () => {
  receiver = createServer((request, response) => void answer(request, response));
  const port = await listen(receiver);
  directory = await temporaryDirectory();
  gateway = await startGateway(directory);
  await sightline(directory, ['org', 'create', 'other']);
  url = `http://127.0.0.1:${port}/hook?key=hidden`;
  ({ id: webhook, secret } = await sightlineJson(directory, ['webhook', 'add', url, '--org', 'default'], added));
});

afterAll(async () => {
  await gateway?.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  await removeDirectory(directory);
});

const startChat = async (organization: string, message: string): Promise<void> => {
  const bearer = await exchange(gateway.url, await createKey(directory, organization));
  await callTool(gateway.url, bearer, 'start_chat', { message, title: message });
};

it('tells of a chat, signed, with the page where it is to be read, and of no other organization', async () => {
  await startChat('other', 'not for this receiver');
  await startChat('default', 'why is checkout slow?');
  await until('the chat is told of', () => chats().length > 0);
  expect(chats()[0]).toMatchObject({ at: '/hook?key=hidden', data: { title: 'why is checkout slow?' } });
  expect(chats()[0]?.data.url).toMatch(/^http:\/\/[^/]+\/chats\/chat_[0-9a-z]+$/);
  await until('its end is told of', () => heard.some(({ data }) => data['status'] === 'completed'));
  expect(JSON.stringify(heard)).not.toContain('not for this receiver');
});

it('sends again what was refused, under the same id', async () => {
  heard.length = 0;
  refusing = 1;
  await startChat('default', 'again');
  await until('it is sent again', () => chats().length === 2);
  expect(chats()[1]?.id).toBe(chats()[0]?.id);
});

it('sends after a kill -9 what was not taken before it', async () => {
  heard.length = 0;
  refusing = 1_000;
  await startChat('default', 'lives on');
  await until('it was tried', () => chats().length > 0);
  await gateway.kill();
  refusing = 0;
  const tried = chats().length;
  gateway = await startGateway(directory);
  await until('it is sent', () => chats().length > tried);
  expect(new Set(chats().map(({ id }) => id)).size).toBe(1);
  await until('nothing waits', async () => {
    const [only] = await sightlineJson(directory, ['webhook', 'list', '--org', 'default'], listed);
    return only?.waiting === 0;
  });
});

it('is tried by hand, shown without its key, and removed', async () => {
  const [only] = await sightlineJson(directory, ['webhook', 'list', '--org', 'default'], listed);
  expect(only).toMatchObject({ id: webhook, address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  heard.length = 0;
  await sightline(directory, ['webhook', 'test', webhook, '--org', 'default']);
  expect(heard.map(({ type }) => type)).toEqual(['webhook.test']);
  refusing = 1;
  const said = async (...args: readonly string[]) => (await sightline(directory, ['webhook', ...args])).stderr;
  expect(await said('test', webhook, '--org', 'default')).toContain('answered 503');
  expect(await said('remove', webhook, '--org', 'other')).toContain('no webhook');
  await sightline(directory, ['webhook', 'remove', webhook, '--org', 'default']);
  expect(await sightlineJson(directory, ['webhook', 'list', '--org', 'default'], listed)).toEqual([]);
  expect(gateway.output()).not.toContain(secret);
  expect(gateway.output()).not.toContain('key=hidden');
});

it('says why nothing can be sent to a port that HTTP clients keep away from', async () => {
  const args = ['webhook', 'add', 'http://127.0.0.1:6000/', '--org', 'default'];
  const { id } = await sightlineJson(directory, args, added);
  const { stderr } = await sightline(directory, ['webhook', 'test', id, '--org', 'default']);
  expect(stderr).toContain('HTTP is not sent to its port');
  await sightline(directory, ['webhook', 'remove', id, '--org', 'default']);
});

it.each([
  ['ftp://hooks.example.com/', 'none that can be posted to'],
  ['hooks.example.com', 'none that can be posted to'],
  ['https://me:password@hooks.example.com/', 'user name or password'],
])('refuses %s', async (url, why) => {
  const { code, stderr } = await sightline(directory, ['webhook', 'add', url, '--org', 'default']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
});

it('takes the commands of docs/webhooks.md, and sends what is shown there', async () => {
  const page = await readFile(join(root, 'docs/webhooks.md'), 'utf8');
  const block = (language: string): string => page.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
  await sightline(directory, ['org', 'create', 'acme']);
  let id = '';
  const commands = block('sh').trim().split('\n');
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const words = command.replace('https://hooks.example.com/sightline', url).replace('whk_…', id).split(' ');
    const { code, stdout, stderr } = await sightline(directory, [...words.slice(1), '--json']);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
    if (words.includes('add')) {
      ({ id, secret } = added.parse(JSON.parse(stdout)));
      heard.length = 0;
      const { key } = await sightlineJson(
        directory,
        ['incident', 'create', 'Checkout fails', '--org', 'acme', '--service', 'checkout'],
        z.looseObject({ key: z.string() }),
      );
      await sightline(directory, ['incident', 'update', key, '--org', 'acme', '--status', 'identified']);
      await until('it is told of', () => heard.some(({ type }) => type === 'incident.updated'));
    }
  }
  const shown = body.parse(JSON.parse(block('json')));
  const sent = heard.find(({ type }) => type === shown.type);
  expect(Object.keys(sent?.data ?? {})).toEqual(Object.keys(shown.data));
});
