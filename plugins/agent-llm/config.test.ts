import { describe, expect, it } from '@jest/globals';
import { configSchema } from './config.ts';

const problems = (config: object): readonly string[] =>
  configSchema
    .safeParse({ provider: 'openai', model: 'm', apiKey: 'sk-1', ...config })
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('the config', () => {
  it.each([
    {},
    { provider: 'anthropic' },
    { baseUrl: 'https://models.example.com/v1/' },
    { baseUrl: 'http://127.0.0.1:8000/v1' },
    { baseUrl: 'http://vllm:8000/v1', apiKey: undefined },
    { apiKey: undefined, baseUrl: 'https://x.example', headers: { 'api-key': 'k' } },
    { limits: { maxToolCalls: '7', seconds: 30, attemptSeconds: 540 } },
    { api: 'chat', reasoningEffort: 'none', extraBody: { thinking: { type: 'disabled' } } },
  ])('takes %j', (config) => {
    expect(problems(config)).toEqual([]);
  });

  it.each([
    [{ apiKey: undefined }, 'apiKey: say the apiKey'],
    [{ provider: 'anthropic', apiKey: undefined, baseUrl: 'https://x.example' }, 'apiKey: say the apiKey'],
    [{ baseUrl: 'http://models.example.com/v1' }, 'baseUrl: must be https where a key is sent'],
    [
      { baseUrl: 'http://x.example', apiKey: undefined, headers: { 'api-key': 'k' } },
      'baseUrl: must be https where a key is sent',
    ],
    [{ baseUrl: 'https://user:pw@x.example' }, 'baseUrl: must be an http or https URL without user, query or fragment'],
    [{ baseUrl: 'file:///etc' }, 'baseUrl: must be an http or https URL without user, query or fragment'],
    [{ apiKey: 'a\nb' }, 'apiKey: must be printable ASCII'],
    [{ temperature: 1 }, ': Unrecognized key: "temperature"'],
    [{ extraBody: { tools: [] } }, 'extraBody.tools: is set by the agent itself'],
    [{ extraBody: { messages: [], max_tokens: 9 } }, 'extraBody.max_tokens: is set by the agent itself'],
    [{ extraBody: { user: 'x'.repeat(9_000) } }, 'extraBody: must be at most 8,000 characters'],
    [{ reasoningEffort: 'High!' }, 'reasoningEffort: Invalid string: must match pattern /^[a-z]{1,20}$/'],
  ])('refuses %j and says what to do', (config, problem) => {
    expect(problems(config)).toContain(problem);
    expect(problems(config).join()).not.toContain('sk-1');
  });
});
