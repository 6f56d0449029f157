import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { silentLogger } from '../../../test/contract/host.ts';
import { listen } from '../../../test/support/listen.ts';
import { configSchema } from '../config.ts';
import { createClient } from '../index.ts';
import type { Turn } from './client.ts';

/* Each file of exchanges/ is one request and its answer, in the format that the API documents. */

const folder = fileURLToPath(new URL('exchanges/', import.meta.url));
const exchangeShape = z.strictObject({
  config: z.looseObject({}),
  basePath: z.string().default(''),
  sent: z.strictObject({
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.looseObject({
      messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).default([]),
      input: z.array(z.looseObject({})).optional(),
    }),
  }),
  answered: z.looseObject({}),
  read: z.looseObject({}),
});

const files = await readdir(folder);
const server = createServer();
afterEach(() => void server.close());

describe('an exchange', () => {
  it.each(files)('%s is sent and read as documented', async (name) => {
    const { config, basePath, sent, answered, read } = exchangeShape.parse(
      JSON.parse(await readFile(`${folder}${name}`, 'utf8')),
    );
    let heard: { path: string | undefined; headers: object; body: unknown } | undefined;
    server.removeAllListeners('request').on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        heard = { path: request.url, headers: request.headers, body: JSON.parse(text) };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
      });
    });
    const port = await listen(server);
    const parsed = configSchema.parse({ ...config, baseUrl: `http://127.0.0.1:${port}${basePath}` });
    const client = createClient(parsed, silentLogger);
    const spoken = sent.body.messages.find(({ role }) => role === 'assistant');
    // What the model said: the items between the question and the results.
    const native = sent.body.input?.slice(1, -1) ?? (parsed.provider === 'anthropic' ? spoken?.content : spoken);
    const callId = parsed.provider === 'anthropic' ? 'toolu_01A' : 'call_1';
    const turns: Turn[] = [
      { role: 'user', text: 'What is wrong?' },
      { role: 'model', reply: { text: '', calls: [], end: 'done', tokens: undefined, native } },
      { role: 'results', results: [{ callId, text: 'E1: 2 rows', failed: false }] },
    ];
    const reply = await client.generate(
      {
        system: 'You look.',
        turns,
        tools: [{ name: 'list_services', description: 'Lists.', schema: { type: 'object' } }],
        mustCall: 'list_services',
        maxOutputTokens: 2_000,
      },
      AbortSignal.timeout(10_000),
    );
    const body = sent.body.input === undefined ? sent.body : { ...sent.body, messages: undefined };
    expect(heard).toEqual({ ...sent, body, headers: expect.objectContaining(sent.headers) });
    expect(reply).toMatchObject(read);
    expect(new Set(reply.calls.map(({ id }) => id || undefined)).size).toBe(reply.calls.length);
    expect(reply.calls.every(({ id }) => id.length > 0)).toBe(true);
  });
});
