import { z } from 'zod';
import { parseJson, type Logger } from '../../../src/contract/core/index.ts';
import type { Config } from '../config.ts';
import { LlmFailure, type LlmClient, type LlmReply, type Turn } from './client.ts';
import { postJson } from './http.ts';
import { openAiEndpoint } from './openai.ts';

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
const replyShape = z.object({
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
      const reply = replyShape.safeParse(await postJson(endpoint, request, signal));
      if (!reply.success || reply.data.status === 'failed') {
        throw new LlmFailure(`The answer of the model API at ${endpoint.url.host} is not a response.`);
      }
      return read(reply.data);
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

function read({ output, status, incomplete_details: incomplete, usage }: z.output<typeof replyShape>): LlmReply {
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
