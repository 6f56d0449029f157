import { z } from 'zod';
import { sendEvents, sendJson, textOf, type Format } from './format.ts';

const block = z.looseObject({ type: z.string(), name: z.string().optional(), content: z.unknown().optional() });
const request = z.looseObject({
  stream: z.boolean().default(false),
  tools: z
    .array(
      z.looseObject({ name: z.string(), description: z.string().default(''), input_schema: z.unknown().optional() }),
    )
    .default([]),
  messages: z.array(z.looseObject({ content: z.union([z.string(), z.array(block)]) })).default([]),
});

/** The Messages API. */
export const anthropic: Format = {
  path: /\/v1\/messages$/,
  read(body) {
    const { tools, messages, stream } = request.parse(body);
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    return {
      stream,
      tools: tools.map(({ name, description, input_schema }) => ({ name, description, schema: input_schema })),
      calls: blocks.flatMap(({ type, name = '' }) => (type === 'tool_use' ? [name] : [])),
      results: blocks.flatMap(({ type, content }) => (type === 'tool_result' ? [textOf(content)] : [])),
    };
  },
  write(response, answer, { id, stream }) {
    const usage = { input_tokens: 500, output_tokens: 50 };
    const called = 'call' in answer;
    const content = called
      ? { type: 'tool_use', id: `toolu_${id}`, name: answer.call.tool.name, input: answer.call.input }
      : { type: 'text', text: answer.text };
    const stop = { stop_reason: called ? 'tool_use' : 'end_turn', stop_sequence: null };
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'scripted', usage };
    if (!stream) return sendJson(response, { ...message, content: [content], ...stop });
    const delta = called
      ? { type: 'input_json_delta', partial_json: JSON.stringify(answer.call.input) }
      : { type: 'text_delta', text: answer.text };
    const opened = called ? { ...content, input: {} } : { ...content, text: '' };
    sendEvents(
      response,
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
        { type: 'content_block_start', index: 0, content_block: opened },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: stop, usage },
        { type: 'message_stop' },
      ],
      { named: true },
    );
  },
};
