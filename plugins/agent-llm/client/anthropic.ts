import { z } from 'zod';
import type { Logger } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient, type LlmReply, type Turn } from './client.ts';
import { postJson, type ModelEndpoint } from './http.ts';

const version = '2023-06-01';

const replyShape = z.object({
  content: z.union([
    z.array(z.looseObject({ type: z.string() })),
    z.string().transform((text) => (text === '' ? [] : [{ type: 'text', text }])),
  ]),
  stop_reason: z.string().nullish(),
  usage: z
    .object({
      input_tokens: z.number(),
      cache_creation_input_tokens: z.number().nullish(),
      cache_read_input_tokens: z.number().nullish(),
      output_tokens: z.number(),
    })
    .nullish()
    .catch(undefined),
});
const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const toolUse = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });

/** Where the API of Anthropic is, and what it wants with each request. */
export function anthropicEndpoint(config: Config, path: 'messages' | 'models', logger: Logger): ModelEndpoint {
  const { apiKey, apiVersion = version, headers, limits, baseUrl = 'https://api.anthropic.com' } = config;
  return {
    url: new URL(`${baseUrl}/v1/${path}`),
    headers: { 'anthropic-version': apiVersion, ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...headers },
    timeoutMs: limits.attemptSeconds * 1_000,
    logger,
  };
}

/** The Anthropic Messages API with tools (`POST /v1/messages`). */
export function createAnthropicClient(config: Config, logger: Logger): LlmClient {
  const { model, reasoningEffort: effort, extraBody } = config;
  const endpoint = anthropicEndpoint(config, 'messages', logger);
  const { url } = endpoint;
  return {
    describe: () => ({ model, host: url.host }),
    async generate({ system, turns, tools, mustCall, maxOutputTokens }, signal) {
      const request = {
        model,
        max_tokens: maxOutputTokens,
        system: withCache([{ type: 'text', text: system }]),
        messages: withCachedEnd(turns.flatMap(messageOf)),
        tools: withCache(tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }))),
        ...(mustCall !== undefined && { tool_choice: { type: 'tool', name: mustCall } }),
        ...(effort !== undefined && { output_config: { effort } }),
        ...extraBody,
      };
      const reply = replyShape.safeParse(await postJson(endpoint, request, signal));
      if (!reply.success) throw new LlmFailure(`The answer of the model API at ${url.host} is not a message.`);
      return read(reply.data);
    },
  };
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly object[];
}

/** All up to here is kept for five minutes: the next turn of a conversation reads it at a tenth of the price. */
function withCache(blocks: readonly object[]): readonly object[] {
  const last = blocks.at(-1);
  return last === undefined ? [] : [...blocks.slice(0, -1), { ...last, cache_control: { type: 'ephemeral' } }];
}

function withCachedEnd(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  return last === undefined ? [] : [...messages.slice(0, -1), { ...last, content: withCache(last.content) }];
}

function messageOf(turn: Turn): readonly Message[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: turn.text }] }];
    case 'model':
      // An empty turn is refused by the API when it sees it again.
      return Array.isArray(turn.reply.native) && turn.reply.native.length > 0
        ? [{ role: 'assistant', content: turn.reply.native }]
        : [];
    case 'results':
      return [
        {
          role: 'user',
          content: turn.results.map(({ callId, text, failed }) => ({
            type: 'tool_result',
            tool_use_id: callId,
            content: text,
            is_error: failed,
          })),
        },
      ];
  }
}

function read({ content, stop_reason: stop, usage }: z.output<typeof replyShape>): LlmReply {
  const calls = content.flatMap((block) => toolUse.safeParse(block).data ?? []);
  return {
    text: content.flatMap((block) => textBlock.safeParse(block).data?.text ?? []).join('\n'),
    calls: calls.map(({ id, name, input }) => ({ id, name, input })),
    end:
      stop === 'refusal'
        ? 'refused'
        : stop === 'max_tokens' || stop === 'model_context_window_exceeded'
          ? 'cut'
          : 'done',
    tokens: usage
      ? {
          input: usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
          output: usage.output_tokens,
        }
      : undefined,
    native: content,
  };
}
