import { z } from 'zod';

const headerText = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

const apiUrl = z
  .string()
  .refine(isApiUrl, 'must be an http or https URL without user, query or fragment')
  .transform((value) => value.replace(/\/+$/, ''));

const headers = z
  .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header'), headerText)
  .default({});

const toolNames = z.array(z.string().regex(/^[\w./-]{1,128}$/, 'must be the name of a tool')).max(20);

const mcpServer = z
  .strictObject({
    url: z.string().refine(isApiUrl, 'must be an http or https URL without user, query or fragment').meta({
      description: 'Of its streamable HTTP',
    }),
    headers: headers.meta({ description: 'Sent with each request; a secret by reference' }),
    tools: toolNames.default([]).meta({
      description: 'What the model may call of it, by name, if the server marks it as reading only (readOnlyHint)',
    }),
    unmarkedTools: toolNames.default([]).meta({
      description: 'Tools that carry no readOnlyHint, and of which you know that they only read',
    }),
    organizations: z
      .array(z.string().regex(/^org_\w{1,60}$/, 'must be the id of an organization'))
      .min(1)
      .max(100)
      .optional()
      .meta({
        description: 'Whose investigations may ask it; of all, if left out',
      }),
    timeoutSeconds: z.coerce.number().min(1).max(60).default(10),
  })
  .refine(({ url, headers: sent }) => Object.keys(sent).length === 0 || !URL.canParse(url) || isPrivate(url), {
    message: 'must be https where headers are sent',
    path: ['url'],
  });

export type McpServer = z.output<typeof mcpServer>;

/** Fields that the clients set: the conversation, the tools and the limits of output. */
const ours: ReadonlySet<string> = new Set(
  (
    'model messages input instructions system prompt tools tool_choice functions function_call mcp_servers stream ' +
    'previous_response_id conversation background max_tokens max_completion_tokens max_output_tokens'
  ).split(' '),
);

export const configSchema = z
  .strictObject({
    provider: z.enum(['anthropic', 'openai']).meta({
      description:
        'Which API: Anthropic Messages, or the ones of OpenAI, which Azure, vLLM, Ollama, OpenRouter have, too',
    }),
    api: z.enum(['responses', 'chat']).optional().meta({
      description:
        'provider openai: its Responses API or chat completions. If left out: responses at OpenAI itself, whose newer models take tools only there; chat where a baseUrl is given',
    }),
    baseUrl: apiUrl.optional().meta({ description: "If not the provider's own" }),
    model: z.string().regex(/^[\w.:/@-]{1,100}$/, 'must be the name of a model'),
    apiKey: headerText.optional(),
    apiVersion: z
      .string()
      .regex(/^[\w.-]{1,40}$/)
      .optional()
      .meta({ description: 'The header anthropic-version; the parameter api-version of Azure' }),
    headers: headers.meta({ description: 'Sent with each request' }),
    outputTokensField: z
      .enum(['max_completion_tokens', 'max_tokens'])
      .default('max_completion_tokens')
      .meta({ description: 'provider openai: how the API calls the limit of its output; Ollama: max_tokens' }),
    reasoningEffort: z
      .string()
      .regex(/^[a-z]{1,20}$/)
      .optional()
      .meta({
        description: 'How hard the model thinks, where it can be told: low, medium, high and what else it knows',
      }),
    extraBody: z
      .record(z.string(), z.json())
      .superRefine((body, context) => {
        for (const key of Object.keys(body).filter((name) => ours.has(name))) {
          context.addIssue({ code: 'custom', path: [key], message: 'is set by the agent itself' });
        }
      })
      .refine((body) => JSON.stringify(body).length <= 8_000, 'must be at most 8,000 characters')
      .default({})
      .meta({ description: 'Further fields of each request, such as { thinking: { type: disabled } }' }),
    mcpServers: z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case letters, digits and hyphens'), mcpServer)
      .refine((servers) => Object.keys(servers).length <= 8, 'must be at most eight')
      .default({})
      .meta({ description: 'Other MCP servers that the model may ask for evidence: runbooks, code, a cluster' }),
    limits: z
      .strictObject({
        maxToolCalls: z.coerce.number().int().min(1).max(50).default(20),
        maxTokens: z.coerce.number().int().min(10_000).max(10_000_000).default(400_000).meta({
          description: 'Of one investigation, input and output of all requests together',
        }),
        attemptSeconds: z.coerce.number().min(1).max(540).default(120).meta({ description: 'Of one request' }),
        seconds: z.coerce.number().min(1).max(540).default(240).meta({ description: 'Of one investigation' }),
      })
      .prefault({}),
  })
  .refine(
    ({ provider, baseUrl, apiKey, headers }) =>
      hasKey(apiKey, headers) || (provider === 'openai' && baseUrl !== undefined),
    {
      message: 'say the apiKey',
      path: ['apiKey'],
    },
  )
  .refine(({ baseUrl, apiKey, headers }) => !hasKey(apiKey, headers) || baseUrl === undefined || isPrivate(baseUrl), {
    message: 'must be https where a key is sent',
    path: ['baseUrl'],
  });

export type Config = z.output<typeof configSchema>;
export type Limits = Config['limits'];

function hasKey(apiKey: string | undefined, headers: Readonly<Record<string, string>>): boolean {
  return apiKey !== undefined || Object.keys(headers).length > 0;
}

function isApiUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, search, hash, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && [search, hash, username, password].every((part) => part === '');
}

/** Encrypted, or local to this machine. */
function isPrivate(value: string): boolean {
  // What is no URL is refused by the key's own check.
  if (!URL.canParse(value)) return true;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
