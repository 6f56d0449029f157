import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { listen } from './listen.ts';

/*
 * A model on the loopback that says what a script has it say, in the documented formats of Anthropic Messages
 * (POST /v1/messages), of chat completions (POST /v1/chat/completions) and of responses (POST /v1/responses). A request that breaks the format is answered
 * 400 and remembered.
 */

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly body: string;
  readonly system: string;
  /** Everything it was told, oldest first. */
  readonly texts: readonly string[];
  /** Of the tools it called last. */
  readonly results: readonly { readonly text: string; readonly failed: boolean }[];
  /** How often it has spoken in this conversation. */
  readonly turn: number;
  readonly mustCall: string | undefined;
}

export interface Said {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly end?: 'refused' | 'cut';
  readonly tokens?: { readonly input: number; readonly output: number };
  /** In place of a turn: the status, with the body as it is. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: string;
  readonly afterMs?: number;
}

export interface Call {
  readonly name: string;
  /** A string is sent as the arguments' text where the format has text. */
  readonly input: unknown;
}

export type Script = (asked: Asked) => Said;

export interface ModelApi {
  /** Without a slash at its end and without a path. */
  readonly url: string;
  readonly asked: readonly Asked[];
  /** What was wrong with requests; empty is right. */
  readonly problems: readonly string[];
  say(script: Script): void;
  /** From now on it tells of its model to nobody. */
  lock(): void;
  stop(): Promise<void>;
}

export async function startModelApi(script: Script): Promise<ModelApi> {
  const asked: Asked[] = [];
  const problems: string[] = [];
  let current = script;
  let locked = false;
  const server = createServer((request, response) => {
    void answer(request).then(async ({ status, headers, body, afterMs }) => {
      if (afterMs > 0) await delay(afterMs, undefined, { ref: false });
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });

  async function answer(request: IncomingMessage) {
    const body = await textOf(request);
    const { url: path = '', headers, method } = request;
    if (method === 'GET') {
      const said = locked
        ? { type: 'error', error: { type: 'authentication_error', message: 'invalid key' } }
        : { type: 'model', id: 'scripted', display_name: 'Scripted' };
      return { status: locked ? 401 : 200, headers: {}, body: JSON.stringify(said), afterMs: 0 };
    }
    const format = path.startsWith('/v1/messages') ? anthropic : /\/responses\b/.test(path) ? responses : openai;
    const read = format.read(body);
    if ('problem' in read) {
      problems.push(read.problem);
      const error = { type: 'error', error: { type: 'invalid_request_error', message: read.problem } };
      return { status: 400, headers: {}, body: JSON.stringify(error), afterMs: 0 };
    }
    const heard = { path, headers, body, ...read };
    asked.push(heard);
    const said = current(heard);
    const written = said.raw ?? JSON.stringify(format.write(said, `call_${asked.length}`));
    return { status: said.status ?? 200, headers: said.headers ?? {}, body: written, afterMs: said.afterMs ?? 0 };
  }

  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    problems,
    say(next) {
      current = next;
    },
    lock() {
      locked = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

type Read = Omit<Asked, 'path' | 'headers' | 'body'> | { readonly problem: string };

interface Format {
  read(body: string): Read;
  write(said: Said, id: string): object;
}

const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const objectSchema = z.looseObject({ type: z.literal('object') });

const cached = { cache_control: z.strictObject({ type: z.literal('ephemeral') }).optional() };
const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), ...cached }),
  z.strictObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: toolName,
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.string(),
    is_error: z.boolean().optional(),
    ...cached,
  }),
]);
const messagesRequest = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  system: z.tuple([z.strictObject({ type: z.literal('text'), text: z.string(), ...cached })]),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) })),
  tools: z.array(z.strictObject({ name: toolName, description: z.string(), input_schema: objectSchema, ...cached })),
  output_config: z.strictObject({ effort: z.string() }).optional(),
  tool_choice: z.strictObject({ type: z.literal('tool'), name: toolName }).optional(),
});

const anthropic: Format = {
  read(body) {
    const request = messagesRequest.safeParse(JSON.parse(body));
    if (!request.success) return { problem: z.prettifyError(request.error) };
    const { messages, system, tool_choice: choice } = request.data;
    if (messages[0]?.role !== 'user') return { problem: 'the first message is not from the user' };
    if ((body.match(/"cache_control"/g) ?? []).length > 4) return { problem: 'more than four cache_control' };
    const blocks = messages.map(({ content }) => content);
    for (const [index, said] of blocks.entries()) {
      const called = said.flatMap((each) => (each.type === 'tool_use' ? [each.id] : []));
      const answered = (blocks[index + 1] ?? []).flatMap((each) =>
        each.type === 'tool_result' ? [each.tool_use_id] : [],
      );
      if (called.join() !== answered.join())
        return { problem: `tool_use ${called.join()} is answered by ${answered.join()}` };
    }
    const results = (blocks.at(-1) ?? []).flatMap((each) =>
      each.type === 'tool_result' ? [{ text: each.content, failed: each.is_error === true }] : [],
    );
    const texts = blocks
      .flat()
      .flatMap((each) => (each.type === 'text' ? each.text : each.type === 'tool_result' ? each.content : []));
    return {
      system: system[0].text,
      texts,
      results,
      turn: messages.filter(({ role }) => role === 'assistant').length,
      mustCall: choice?.name,
    };
  },
  write: ({ text, calls = [], end, tokens = { input: 500, output: 100 } }, id) => ({
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map(({ name, input }, index) => ({ type: 'tool_use', id: `${id}_${index}`, name, input })),
    ],
    stop_reason:
      end === 'refused' ? 'refusal' : end === 'cut' ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  }),
};

const completionsRequest = z.strictObject({
  model: z.string(),
  thinking: z.strictObject({ type: z.enum(['enabled', 'disabled']) }).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  max_tokens: z.int().min(1).optional(),
  messages: z.array(
    z.discriminatedUnion('role', [
      z.strictObject({ role: z.literal('system'), content: z.string() }),
      z.strictObject({ role: z.literal('user'), content: z.string() }),
      z.strictObject({
        role: z.literal('assistant'),
        content: z.string(),
        tool_calls: z
          .array(
            z.strictObject({
              id: z.string(),
              type: z.literal('function'),
              function: z.strictObject({ name: toolName, arguments: z.string() }),
            }),
          )
          .min(1)
          .optional(),
      }),
      z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
    ]),
  ),
  tools: z.array(
    z.strictObject({
      type: z.literal('function'),
      function: z.strictObject({ name: toolName, description: z.string(), parameters: objectSchema }),
    }),
  ),
  tool_choice: z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: toolName }) }).optional(),
});

const openai: Format = {
  read(body) {
    const request = completionsRequest.safeParse(JSON.parse(body));
    if (!request.success) return { problem: z.prettifyError(request.error) };
    const { messages, tool_choice: choice } = request.data;
    let open: string[] = [];
    for (const message of messages) {
      if (message.role === 'tool') {
        if (!open.includes(message.tool_call_id)) return { problem: `no call ${message.tool_call_id}` };
        open = open.filter((id) => id !== message.tool_call_id);
      } else if (open.length > 0) return { problem: `calls without an answer: ${open.join()}` };
      if (message.role === 'assistant') open = (message.tool_calls ?? []).map(({ id }) => id);
    }
    const lastSpoken = messages.findLastIndex(({ role }) => role === 'assistant');
    return {
      system: messages.find(({ role }) => role === 'system')?.content ?? '',
      texts: messages.filter(({ role }) => role === 'user' || role === 'tool').map(({ content }) => content),
      // The format does not say whether a tool failed.
      results: messages
        .slice(lastSpoken + 1)
        .flatMap(({ role, content }) => (role === 'tool' ? [{ text: content, failed: false }] : [])),
      turn: messages.filter(({ role }) => role === 'assistant').length,
      mustCall: choice?.function.name,
    };
  },
  write: ({ text, calls = [], end, tokens = { input: 500, output: 100 } }, id) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_770_000_000,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ name, input }, index) => ({
              id: `${id}_${index}`,
              type: 'function',
              function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
            })),
          }),
        },
        finish_reason:
          end === 'refused' ? 'content_filter' : end === 'cut' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
    },
  }),
};

const responsesRequest = z.strictObject({
  model: z.string(),
  instructions: z.string(),
  input: z.array(
    z.union([
      z.strictObject({ role: z.literal('user'), content: z.string().min(1) }),
      z.strictObject({
        type: z.literal('reasoning'),
        id: z.string(),
        summary: z.array(z.unknown()),
        encrypted_content: z.string(),
      }),
      z.looseObject({ type: z.literal('message'), role: z.literal('assistant'), content: z.array(z.unknown()) }),
      z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: toolName, arguments: z.string() }),
      z.strictObject({ type: z.literal('function_call_output'), call_id: z.string(), output: z.string() }),
    ]),
  ),
  tools: z.array(
    z.strictObject({
      type: z.literal('function'),
      name: toolName,
      description: z.string(),
      parameters: objectSchema,
      strict: z.literal(false),
    }),
  ),
  tool_choice: z.strictObject({ type: z.literal('function'), name: toolName }).optional(),
  max_output_tokens: z.int().min(16),
  store: z.literal(false),
  include: z.array(z.string()),
  reasoning: z.strictObject({ effort: z.string() }).optional(),
});

const responses: Format = {
  read(body) {
    const request = responsesRequest.safeParse(JSON.parse(body));
    if (!request.success) return { problem: z.prettifyError(request.error) };
    const { input, instructions, tool_choice: choice } = request.data;
    const open = new Set<string>();
    let thought = 0;
    const texts: string[] = [];
    for (const item of input) {
      if ('output' in item && item.type === 'function_call_output') {
        if (!open.delete(item.call_id)) return { problem: `no call ${item.call_id}` };
        texts.push(item.output);
      } else if ('type' in item && item.type === 'function_call') open.add(item.call_id);
      else if ('type' in item && item.type === 'reasoning') thought += 1;
      else if ('role' in item && item.role === 'user') texts.push(item.content);
    }
    if (open.size > 0) return { problem: `calls without an answer: ${[...open].join()}` };
    const lastSpoken = input.findLastIndex((item) => !('output' in item) && !('role' in item && item.role === 'user'));
    return {
      system: instructions,
      texts,
      results: input
        .slice(lastSpoken + 1)
        .flatMap((item) => ('output' in item ? [{ text: String(item.output), failed: false }] : [])),
      // Each turn begins with a thought, which has to come back.
      turn: thought,
      mustCall: choice?.name,
    };
  },
  write: ({ text, calls = [], end, tokens = { input: 500, output: 100 } }, id) => ({
    id: 'resp_1',
    object: 'response',
    status: end === 'cut' ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: end === 'cut' ? { reason: 'max_output_tokens' } : null,
    model: 'scripted',
    output: [
      { id: `rs_${id}`, type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAA' },
      ...(text === undefined && end !== 'refused'
        ? []
        : [
            {
              id: `msg_${id}`,
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [
                end === 'refused'
                  ? { type: 'refusal', refusal: text ?? 'No.' }
                  : { type: 'output_text', annotations: [], text },
              ],
            },
          ]),
      ...calls.map(({ name, input }, index) => ({
        id: `fc_${id}_${index}`,
        type: 'function_call',
        status: 'completed',
        call_id: `${id}_${index}`,
        name,
        arguments: typeof input === 'string' ? input : JSON.stringify(input),
      })),
    ],
    usage: { input_tokens: tokens.input, output_tokens: tokens.output, total_tokens: tokens.input + tokens.output },
  }),
};
