import { z } from 'zod';
import { parseJson, type Logger } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient, type LlmReply, type Turn } from './client.ts';
import { postJson } from './http.ts';

const callShape = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
const messageShape = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callShape).nullish(),
});
const replyShape = z.object({
  choices: z.array(z.object({ message: messageShape, finish_reason: z.string().nullish() })).min(1),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

/**
 * Chat completions with tools (`POST {baseUrl}/chat/completions`) of OpenAI and all that speak the same: Azure, vLLM,
 * Ollama, OpenRouter.
 */
export function createOpenAiClient(config: Config, logger: Logger): LlmClient {
  const { model, apiKey, apiVersion, headers, outputTokensField, baseUrl = 'https://api.openai.com/v1' } = config;
  const url = new URL(`${baseUrl}/chat/completions`);
  if (apiVersion !== undefined) url.searchParams.set('api-version', apiVersion);
  const endpoint = {
    url,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    logger,
  };
  return {
    describe: () => ({ model, host: url.host }),
    async generate({ system, turns, tools, mustCall, maxOutputTokens }, signal) {
      const request = {
        model,
        [outputTokensField]: maxOutputTokens,
        messages: [{ role: 'system', content: system }, ...turns.flatMap(messagesOf)],
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          function: { name, description, parameters: schema },
        })),
        ...(mustCall !== undefined && { tool_choice: { type: 'function', function: { name: mustCall } } }),
      };
      const reply = replyShape.safeParse(await postJson(endpoint, request, signal));
      const choice = reply.data?.choices[0];
      if (choice === undefined) throw new LlmFailure(`The answer of the model API at ${url.host} is not a completion.`);
      return read(choice, reply.data?.usage);
    },
  };
}

function messagesOf(turn: Turn): readonly unknown[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: turn.text }];
    case 'model':
      return [turn.reply.native];
    case 'results':
      return turn.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  }
}

function read(
  { message, finish_reason: finish }: z.output<typeof replyShape>['choices'][number],
  usage: z.output<typeof replyShape>['usage'],
): LlmReply {
  const calls = message.tool_calls ?? [];
  return {
    text: message.content ?? '',
    calls: calls.map(({ id, function: called }) => ({
      id,
      name: called.name,
      input: parseJson(called.arguments || '{}'),
    })),
    end: finish === 'content_filter' || message.refusal ? 'refused' : finish === 'length' ? 'cut' : 'done',
    tokens: usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : undefined,
    native: {
      role: 'assistant',
      content: message.content ?? '',
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  };
}
