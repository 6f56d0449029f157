import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseJson, type Logger } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient, type LlmReply, type Turn } from './client.ts';
import { postJson, type ModelEndpoint } from './http.ts';

const text = z.union([
  z.string(),
  z
    .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
    .transform((parts) => parts.map((part) => part.text ?? '').join('')),
]);
const callShape = z
  .looseObject({
    id: z.string().nullish(),
    function: z.looseObject({
      name: z.string(),
      arguments: z.union([z.string(), z.looseObject({}).transform((given) => JSON.stringify(given))]).nullish(),
    }),
  })
  // Some servers give no id; it only has to be the same in the answer to the call.
  .transform(({ id, function: called, ...rest }) => ({
    ...rest,
    id: id || `call_${randomUUID()}`,
    type: 'function',
    function: { ...called, arguments: called.arguments ?? '{}' },
  }));
const messageShape = z.object({
  content: text.nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(callShape).nullish(),
  // What a model thought, which DeepSeek and OpenRouter want to see again.
  reasoning_content: z.string().nullish(),
  reasoning_details: z.array(z.unknown()).nullish(),
});
const replyShape = z.object({
  choices: z.array(z.object({ message: messageShape, finish_reason: z.string().nullish() })).min(1),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish().catch(undefined),
});

/** Where an API in OpenAI's format is, and what it wants with each request. */
export function openAiEndpoint(
  config: Config,
  path: 'chat/completions' | 'responses' | 'models',
  logger: Logger,
): ModelEndpoint {
  const { apiKey, apiVersion, headers, limits, baseUrl = openAiUrl } = config;
  const url = new URL(`${baseUrl}/${path}`);
  if (apiVersion !== undefined) url.searchParams.set('api-version', apiVersion);
  return {
    url,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
    timeoutMs: limits.attemptSeconds * 1_000,
    logger,
  };
}

const openAiUrl = 'https://api.openai.com/v1';

/**
 * Chat completions with tools (`POST {baseUrl}/chat/completions`), as Azure, vLLM, Ollama, DeepSeek and OpenRouter have
 * them beside OpenAI.
 */
export function createChatClient(config: Config, logger: Logger): LlmClient {
  const { model, outputTokensField, reasoningEffort: effort, extraBody } = config;
  const endpoint = openAiEndpoint(config, 'chat/completions', logger);
  const { host } = endpoint.url;
  return {
    describe: () => ({ model, host }),
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
        ...(effort !== undefined && { reasoning_effort: effort }),
        ...extraBody,
      };
      const reply = replyShape.safeParse(await postJson(endpoint, request, signal));
      const choice = reply.data?.choices[0];
      if (choice === undefined) throw new LlmFailure(`The answer of the model API at ${host} is not a completion.`);
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
      ...(message.reasoning_content && { reasoning_content: message.reasoning_content }),
      ...(message.reasoning_details && { reasoning_details: message.reasoning_details }),
    },
  };
}

const item = z.looseObject({ type: z.string() });
const call = z.object({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.union([z.string(), z.looseObject({})]),
});
const message = z.object({
  type: z.literal('message'),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
});
const responseShape = z.object({
  status: z.string().nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(item),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).nullish().catch(undefined),
});

/**
 * OpenAI's Responses API (`POST {baseUrl}/responses`), which lets its models think between calls of tools. Nothing is kept
 * there: what a model thought comes back encrypted, and is sent with the next turn.
 */
export function createResponsesClient(config: Config, logger: Logger): LlmClient {
  const { model, reasoningEffort: effort, extraBody } = config;
  const endpoint = openAiEndpoint(config, 'responses', logger);
  return {
    describe: () => ({ model, host: endpoint.url.host }),
    async generate({ system, turns, tools, mustCall, maxOutputTokens }, signal) {
      const request = {
        model,
        instructions: system,
        input: turns.flatMap(itemsOf),
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          name,
          description,
          parameters: schema,
          strict: false,
        })),
        ...(mustCall !== undefined && { tool_choice: { type: 'function', name: mustCall } }),
        max_output_tokens: maxOutputTokens,
        store: false,
        include: ['reasoning.encrypted_content'],
        ...(effort !== undefined && { reasoning: { effort } }),
        ...extraBody,
      };
      const reply = responseShape.safeParse(await postJson(endpoint, request, signal));
      if (!reply.success || reply.data.status === 'failed') {
        throw new LlmFailure(`The answer of the model API at ${endpoint.url.host} is not a response.`);
      }
      return readResponse(reply.data);
    },
  };
}

function itemsOf(turn: Turn): readonly unknown[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: turn.text }];
    case 'model':
      return Array.isArray(turn.reply.native) ? turn.reply.native : [];
    case 'results':
      return turn.results.map(({ callId, text }) => ({ type: 'function_call_output', call_id: callId, output: text }));
  }
}

function readResponse({
  output,
  status,
  incomplete_details: incomplete,
  usage,
}: z.output<typeof responseShape>): LlmReply {
  const parts = output.flatMap((each) => message.safeParse(each).data?.content ?? []);
  const refused = parts.some(({ type }) => type === 'refusal') || incomplete?.reason === 'content_filter';
  return {
    text: parts.flatMap(({ type, text }) => (type === 'output_text' && text !== undefined ? [text] : [])).join('\n'),
    calls: output.flatMap((each) => {
      const { data } = call.safeParse(each);
      if (data === undefined) return [];
      const { call_id: id, name, arguments: given } = data;
      return [{ id, name, input: typeof given === 'string' ? parseJson(given || '{}') : given }];
    }),
    end: refused ? 'refused' : status === 'incomplete' ? 'cut' : 'done',
    tokens: usage ? { input: usage.input_tokens, output: usage.output_tokens } : undefined,
    // Fields that are null are answered, but refused when they are sent.
    native: output.map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null))),
  };
}
