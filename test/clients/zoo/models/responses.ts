import { z } from 'zod';
import { sendEvents, sendJson, textOf, type Format, type Said, type ToldTool } from './format.ts';

const named = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.unknown().optional(),
});
const tool = z.looseObject({ type: z.string(), name: z.string().optional(), tools: z.array(named).optional() });
const item = z.looseObject({
  type: z.string().optional(),
  name: z.string().optional(),
  output: z.unknown().optional(),
  tools: z.array(tool).nullish(),
});
const request = z.looseObject({
  stream: z.boolean().nullish(),
  tools: z.array(tool).nullish(),
  input: z.union([z.string(), z.array(item)]).optional(),
});

/** The client's own search, whose results are tools. */
const searching = 'tool_search';

function toolsOf(sent: z.output<typeof tool>): readonly ToldTool[] {
  if (sent.type === 'namespace') {
    return (sent.tools ?? []).map((inner) => toldOf(inner, sent.name));
  }
  if (sent.type === searching) return [{ name: searching, description: '', schema: {} }];
  const plain = named.safeParse(sent);
  return plain.success ? [toldOf(plain.data)] : [];
}

function toldOf({ name, description, parameters }: z.output<typeof named>, namespace?: string): ToldTool {
  const told = { name, description: description ?? '', schema: parameters };
  return namespace === undefined ? told : { ...told, namespace };
}

/** OpenAI's Responses. */
export const responses: Format = {
  path: /\/responses$/,
  read(body) {
    const { tools, input, stream } = request.parse(body);
    const items = typeof input === 'string' || input === undefined ? [] : input;
    return {
      stream: stream ?? false,
      tools: [...(tools ?? []), ...items.flatMap((found) => found.tools ?? [])].flatMap(toolsOf),
      calls: items.flatMap(({ type, name = '' }) =>
        type === 'function_call' ? [name] : type === 'tool_search_call' ? [searching] : [],
      ),
      results: items.flatMap(({ type, output }) => (type === 'function_call_output' ? [textOf(output)] : [])),
    };
  },
  write(response, answer, { id, stream }) {
    const done = itemOf(answer, id);
    const whole = {
      id: `resp_${id}`,
      object: 'response',
      created_at: 1_770_000_000,
      model: 'scripted',
      tools: [],
      error: null,
      incomplete_details: null,
      usage: {
        input_tokens: 500,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 550,
      },
    };
    const completed = { ...whole, status: 'completed', output: [done] };
    if (!stream) return sendJson(response, completed);
    const events: object[] = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: done },
      ...('call' in answer
        ? []
        : [
            {
              type: 'response.output_text.delta',
              item_id: done.id,
              output_index: 0,
              content_index: 0,
              delta: answer.text,
            },
          ]),
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: completed },
    ];
    sendEvents(response, events, { named: true });
  },
};

function itemOf(said: Said, id: string) {
  if ('text' in said) {
    const content = [{ type: 'output_text', text: said.text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  }
  const { tool: called, input } = said.call;
  const call = { call_id: `call_${id}`, status: 'completed' };
  if (called.name === searching) {
    return { ...call, type: 'tool_search_call', id: `tsc_${id}`, execution: 'client', arguments: input };
  }
  const namespace = called.namespace !== undefined && { namespace: called.namespace };
  return {
    ...call,
    type: 'function_call',
    id: `fc_${id}`,
    name: called.name,
    ...namespace,
    arguments: JSON.stringify(input),
  };
}
