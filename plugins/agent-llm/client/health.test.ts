import { createServer, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import { freePort, listen } from '../../../test/support/listen.ts';
import { configSchema } from '../config.ts';
import { createClient } from '../index.ts';

type Answers = Readonly<Record<string, readonly [status: number, body?: unknown]>>;

let answers: Answers = {};
let hangs = false;
const asked: string[] = [];
let headers: IncomingHttpHeaders = {};
const server = createServer((request, response) => {
  const { url = '' } = request;
  asked.push(url);
  headers = request.headers;
  if (hangs) return;
  const [status, body = {}] = answers[url] ?? [404];
  response.writeHead(status, status === 302 ? { location: '/' } : {}).end(JSON.stringify(body));
});
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  answers = {};
  hangs = false;
  asked.length = 0;
});

const clientOf = (config: object = {}) =>
  createClient(
    configSchema.parse({ provider: 'anthropic', baseUrl: base, model: 'claude', apiKey: 'sk-secret', ...config }),
    silentLogger,
  );
const openai = { provider: 'openai', baseUrl: undefined, model: 'Qwen/Qwen3-32B' };
const local = () => ({ ...openai, baseUrl: `${base}/v1` });

describe('the look at a model', () => {
  it('finds it by one request with the key, and not again for a while', async () => {
    answers = { '/v1/models/claude': [200, { type: 'model', id: 'claude' }] };
    const client = clientOf();
    expect(await Promise.all([client.problem(), client.problem()])).toEqual([undefined, undefined]);
    expect(await client.problem()).toBeUndefined();
    expect(asked).toEqual(['/v1/models/claude']);
    expect(headers).toMatchObject({ 'x-api-key': 'sk-secret', 'anthropic-version': '2023-06-01' });
  });

  it.each<readonly [string, Answers, string]>([
    [
      'a wrong key',
      { '/v1/models/claude': [401, { error: { message: 'sk-secret' } }] },
      'refuses the key: set agent.apiKey.',
    ],
    [
      'a model that is not there',
      { '/v1/models': [200, { data: [{ id: 'other' }] }] },
      'has no model `claude`: set agent.model.',
    ],
    ['an address that redirects', { '/v1/models/claude': [302] }, 'redirects: is agent.baseUrl right?'],
    ['a server that fails', { '/v1/models/claude': [503] }, 'answers 503.'],
  ])('tells %s, without the key', async (_name, given, problem) => {
    answers = given;
    const said = await clientOf().problem();
    expect(said).toBe(`The model API at ${new URL(base).host} ${problem}`);
    expect(said).not.toContain('sk-secret');
  });

  it('names the headers where the key is in one', async () => {
    answers = { '/v1/models/claude': [401] };
    expect(await clientOf({ apiKey: undefined, headers: { 'x-api-key': 'k' } }).problem()).toContain(
      'set agent.headers',
    );
  });

  it('gives up in time on an address that hangs, and on one where nobody is', async () => {
    hangs = true;
    expect(await clientOf().problem()).toContain('gave no answer: it takes too long. Is agent.baseUrl right?');
    const nobody = await clientOf({ baseUrl: `http://127.0.0.1:${await freePort()}` }).problem();
    expect(nobody).toContain('gave no answer: nothing listens there (ECONNREFUSED). Check that the server runs');
  });

  it.each<readonly [string, Answers]>([
    ['lists it', { '/v1/models': [200, { data: [{ id: 'Qwen/Qwen3-32B' }] }] }],
    ['knows neither', {}],
    ['shows models to no such key', { '/v1/models/Qwen%2FQwen3-32B': [403] }],
  ])('takes a compatible server at its word that %s', async (_name, given) => {
    answers = given;
    expect(await clientOf(local()).problem()).toBeUndefined();
    expect(headers.authorization).toBe('Bearer sk-secret');
  });

  it('counts a key that is refused in an investigation', async () => {
    const client = clientOf(local());
    expect(await client.problem()).toBeUndefined();
    answers = { '/v1/chat/completions': [401] };
    const request = { system: '', turns: [], tools: [], maxOutputTokens: 100 };
    await expect(client.generate(request, AbortSignal.timeout(5_000))).rejects.toThrow('answered 401');
    expect(await client.problem()).toContain('refuses the key');
  });
});
