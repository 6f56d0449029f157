import { z } from 'zod';
import { sendEvents, sendJson, textOf, type Format } from './format.ts';

const request = z.looseObject({
  stream: z.boolean().nullish(),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({
          name: z.string(),
          description: z.string().default(''),
          parameters: z.unknown().optional(),
        }),
      }),
    )
    .nullish(),
  messages: z
    .array(
      z.looseObject({
        role: z.string(),
        content: z.unknown().optional(),
        tool_calls: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).nullish(),
      }),
    )
    .default([]),
});

/** OpenAI's Chat Completions. */
export const completions: Format = {
  path: /\/chat\/completions$/,
  read(body) {
    const { tools, messages, stream } = request.parse(body);
    return {
      stream: stream ?? false,
      tools: (tools ?? []).map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        schema: parameters,
      })),
      calls: messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map((call) => call.function.name)),
      results: messages.flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : [])),
    };
  },
  write(response, answer, { id, stream }) {
    const called = 'call' in answer;
    const calls = called && [
      {
        index: 0,
        id: `call_${id}`,
        type: 'function',
        function: { name: answer.call.tool.name, arguments: JSON.stringify(answer.call.input) },
      },
    ];
    const message = { role: 'assistant', content: called ? null : answer.text, ...(calls && { tool_calls: calls }) };
    const head = { id: `chatcmpl-${id}`, created: 1_770_000_000, model: 'scripted' };
    const usage = { prompt_tokens: 500, completion_tokens: 50, total_tokens: 550 };
    const finish = called ? 'tool_calls' : 'stop';
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason: finish }];
      return sendJson(response, { ...head, object: 'chat.completion', choices, usage });
    }
    const chunk = { ...head, object: 'chat.completion.chunk' };
    sendEvents(
      response,
      [
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
        { ...chunk, choices: [], usage },
      ],
      { done: true },
    );
  },
};
