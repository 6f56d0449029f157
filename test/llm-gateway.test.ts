import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { startModelApi, type ModelApi, type Said } from './support/model-api.ts';

/* A whole gateway whose agent has a model, and a person who asks it. */

const chatShape = z.object({
  chat: z.object({ status: z.string() }),
  messages: z.array(
    z.object({ role: z.string(), content: z.string(), parts: z.array(z.looseObject({ type: z.string() })).optional() }),
  ),
});

let directory = '';
let api: ModelApi;
let gateway: RunningGateway;
let token = '';
const key = 'sk-of-the-gateway';

beforeAll(async () => {
  directory = await temporaryDirectory();
  api = await startModelApi(() => ({ end: 'refused' }));
  const agent = {
    plugin: 'llm',
    provider: 'anthropic',
    baseUrl: api.url,
    model: 'scripted',
    apiKey: `\${file:${join(directory, 'model-key')}}`,
  };
  await writeFile(join(directory, 'model-key'), `${key}\n`);
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ agent }));
  gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
  token = await exchange(gateway.url, await createKey(directory, 'acme'));
  expect((await sightline(directory, ['demo', '--minutes', '40', '--org', 'acme'])).code).toBe(0);
  await countRows(gateway.url, token, 'otel.spans', 1);
});
afterAll(async () => {
  await gateway.stop();
  await api.stop();
  await removeDirectory(directory);
});

const tool = (name: string, args: object) => callTool(gateway.url, token, name, { ...args });

async function ended(chatId: string, than: number) {
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const { structured } = await tool('read_chat', { chat_id: chatId, wait_seconds: 5 });
    const { chat: state, messages } = chatShape.parse(structured);
    if (state.status !== 'running' && messages.length > than) return { ...state, messages };
    await delay(50);
  }
  throw new Error('the chat did not end');
}

describe('a chat with an agent that has a model', () => {
  it('asks back, goes on from the reply, and answers on evidence', async () => {
    const turns: Said[] = [
      { calls: [{ name: 'make_plan', input: { todo: ['Ask'] } }] },
      { calls: [{ name: 'ask_human', input: { question: 'Which region do you mean?' } }] },
    ];
    api.say(({ turn }) => turns[turn] ?? { end: 'refused' });
    const started = await tool('start_chat', { message: 'What is wrong?' });
    const { chat_id: chatId } = z.object({ chat_id: z.string() }).parse(started.structured);
    const waiting = await ended(chatId, 1);
    expect(waiting.status).toBe('waiting');
    expect(waiting.messages.at(-1)?.content).toContain('Which region do you mean?');

    const conclusion = {
      root_cause: 'See [here](https://evil.example).',
      category: 'errors',
      service: '',
      confidence: 'medium',
      claims: [{ text: 'There are spans.', evidence_ids: ['E1'] }],
    };
    api.say(() => ({ calls: [{ name: 'submit_conclusion', input: conclusion }] }));
    await tool('send_chat_reply', { chat_id: chatId, message: 'Europe' });
    const answered = await ended(chatId, 3);
    expect(answered.status).toBe('completed');
    expect(api.asked.at(-1)?.texts[0]).toContain('The question:\nEurope');
    const answer = answered.messages.at(-1);
    expect(answer?.content).toContain('by the model `scripted`');
    expect(answer?.content).not.toContain('evil.example)');
    expect(answer?.parts?.map(({ type }) => type)).toEqual(['query']);
    expect(api.problems).toEqual([]);
    expect(gateway.output()).not.toContain(key);
  });

  it('answers without the model when that is down', async () => {
    api.say(() => ({ status: 401, raw: `{"error":{"type":"authentication_error","message":"${key}"}}` }));
    const started = await tool('start_chat', { message: 'What is wrong in the last hour?' });
    const { chat_id: chatId } = z.object({ chat_id: z.string() }).parse(started.structured);
    const { status, messages } = await ended(chatId, 1);
    expect(status).toBe('completed');
    expect(messages.at(-1)?.content).toMatch(
      /^_The model could not be asked: .* answered 401 \(authentication_error\)/,
    );
    expect(gateway.output()).toContain('did not answer as it should');
    expect(gateway.output()).not.toContain(key);
  });
});

describe('a gateway whose model does not take the key', () => {
  it('is ready but degraded, and doctor says what to set', async () => {
    const readyz = async (): Promise<unknown> => (await fetch(`${gateway.url}/readyz`)).json();
    expect(await readyz()).toMatchObject({ status: 'ok' });
    api.lock();
    api.say(() => ({ status: 401, raw: '{}' }));
    const started = await tool('start_chat', { message: 'What is wrong in the last two hours?' });
    const { chat_id: chatId } = z.object({ chat_id: z.string() }).parse(started.structured);
    await ended(chatId, 1);
    await delay(1_100);
    expect(await readyz()).toMatchObject({ status: 'ok', components: { 'agent plugin "llm"': 'degraded' } });
    const config = join(directory, 'sightline.config.json');
    const { code, stdout } = await sightline(directory, ['doctor', '--config', config]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL +agent +The model API at [\d.:]+ refuses the key: set agent\.apiKey\./);
    expect(stdout).toContain('agent plugin "llm" is degraded');
    expect(stdout + gateway.output()).not.toContain(key);
  });
});
