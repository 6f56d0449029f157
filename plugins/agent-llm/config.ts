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

const seconds = (most: number, usual: number) => z.coerce.number().min(1).max(most).default(usual);

const toolNames = z.array(z.string().regex(/^[\w./-]{1,128}$/, 'must be the name of a tool')).max(20);

const mcpServer = z
  .strictObject({
    url: z
      .string()
      .refine(isApiUrl, 'must be an http or https URL without user, query or fragment')
      .describe('URL of the MCP endpoint (streamable HTTP)'),
    headers: headers.describe('Headers of each request; give a secret by reference'),
    tools: toolNames
      .default([])
      .describe('Names of tools that the model may call, if the server marks them as read-only (readOnlyHint)'),
    unmarkedTools: toolNames.default([]).describe('Names of tools without readOnlyHint that you know to be read-only'),
    organizations: z
      .array(z.string().regex(/^org_\w{1,60}$/, 'must be the id of an organization'))
      .min(1)
      .max(100)
      .optional()
      .describe('Organizations (id) whose investigations may query it; all by default'),
    timeoutSeconds: seconds(60, 10).describe('Timeout of one call, in seconds'),
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
    provider: z
      .enum(['anthropic', 'openai'])
      .describe(
        'API of the model: Anthropic Messages, or that of OpenAI, which Azure, vLLM, Ollama and OpenRouter also offer',
      ),
    api: z
      .enum(['responses', 'chat'])
      .optional()
      .describe('provider openai: Responses API or chat completions; by default responses, but chat if baseUrl is set'),
    baseUrl: apiUrl.optional().describe('Base URL, if it is not that of the provider'),
    model: z
      .string()
      .regex(/^[\w.:/@-]{1,100}$/, 'must be the name of a model')
      .describe('Name of the model, as the API calls it'),
    apiKey: headerText.optional().describe('Key of the API; give it as ${env:…} or ${file:…}'),
    apiVersion: z
      .string()
      .regex(/^[\w.-]{1,40}$/)
      .optional()
      .describe('Value of the header anthropic-version, or of the parameter api-version of Azure'),
    headers: headers.describe('Headers of each request'),
    outputTokensField: z
      .enum(['max_completion_tokens', 'max_tokens'])
      .default('max_completion_tokens')
      .describe('provider openai: name of the field that limits the output; Ollama: max_tokens'),
    reasoningEffort: z
      .string()
      .regex(/^[a-z]{1,20}$/)
      .optional()
      .describe('Reasoning effort of models that support it: low, medium, high or another value of the API'),
    extraBody: z
      .record(z.string(), z.json())
      .superRefine((body, context) => {
        for (const key of Object.keys(body).filter((name) => ours.has(name))) {
          context.addIssue({ code: 'custom', path: [key], message: 'is set by the agent itself' });
        }
      })
      .refine((body) => JSON.stringify(body).length <= 8_000, 'must be at most 8,000 characters')
      .default({})
      .describe('Additional fields of each request, such as { thinking: { type: disabled } }'),
    mcpServers: z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case letters, digits and hyphens'), mcpServer)
      .refine((servers) => Object.keys(servers).length <= 8, 'must be at most eight')
      .default({})
      .describe('Other MCP servers that the model may query for evidence: runbooks, code, a cluster'),
    limits: z
      .strictObject({
        maxToolCalls: z.coerce.number().int().min(1).max(50).default(20).describe('Tool calls of one investigation'),
        maxTokens: z.coerce
          .number()
          .int()
          .min(10_000)
          .max(10_000_000)
          .default(400_000)
          .describe('Tokens of one investigation, input and output of all requests together'),
        attemptSeconds: seconds(540, 120).describe('Timeout of one request, in seconds'),
        seconds: seconds(540, 240).describe('Longest duration of one investigation, in seconds'),
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
