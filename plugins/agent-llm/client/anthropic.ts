import { z } from 'zod';
import type { Logger } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient, type LlmReply, type Turn } from './client.ts';
import { postJson } from './http.ts';

const version = '2023-06-01';

const replyShape = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  usage: z
    .object({
      input_tokens: z.number(),
      cache_creation_input_tokens: z.number().nullish(),
      cache_read_input_tokens: z.number().nullish(),
      output_tokens: z.number(),
    })
    .optional(),
});
const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const toolUse = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });

/** The Anthropic Messages API with tools (`POST /v1/messages`). */
export function createAnthropicClient(config: Config, logger: Logger): LlmClient {
  const { model, apiKey, apiVersion = version, headers, baseUrl = 'https://api.anthropic.com' } = config;
  const url = new URL(`${baseUrl}/v1/messages`);
  const endpoint = {
    url,
    headers: { 'anthropic-version': apiVersion, ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...headers },
    logger,
  };
  return {
    describe: () => ({ model, host: url.host }),
    async generate({ system, turns, tools, mustCall, maxOutputTokens }, signal) {
      const request = {
        model,
        max_tokens: maxOutputTokens,
        system,
        messages: turns.flatMap(messageOf),
        tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
        ...(mustCall !== undefined && { tool_choice: { type: 'tool', name: mustCall } }),
      };
      const reply = replyShape.safeParse(await postJson(endpoint, request, signal));
      if (!reply.success) throw new LlmFailure(`The answer of the model API at ${url.host} is not a message.`);
      return read(reply.data);
    },
  };
}

function messageOf(turn: Turn): readonly object[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: turn.text }];
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
    tokens: usage && {
      input: usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
      output: usage.output_tokens,
    },
    native: content,
  };
}
