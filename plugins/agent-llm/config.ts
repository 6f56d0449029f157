import { z } from 'zod';
import type { LlmReply } from './client/client.ts';

/** What the model may use up, counted where it cannot reach. */
export interface Budget {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Counts one call of a tool; false when there are none left. */
  takeCall(): boolean;
  /** What a request of so many characters may still write; undefined when it does not fit any more. */
  outputFor(characters: number): number | undefined;
  /** After a request of so many characters there is no room for another one: the model has to conclude now. */
  ending(characters: number): boolean;
  count(reply: LlmReply, characters: number): void;
  close(): void;
}

/** A third rather than the usual quarter, since SQL and JSON are dense; what the API counts decides where it is more. */
const tokensOfCharacter = 1 / 3;
const mostOutput = 8_000;
const leastOutput = 1_000;
/** What one more round adds: a reply, and what its tools answer. */
const oneRound = 6_000;
/** Of the time; what is left is for the conclusion. */
const shareForLooking = 0.75;

export function createBudget({ maxToolCalls, maxTokens, seconds }: Limits): Budget {
  const deadline = new AbortController();
  const begun = performance.now();
  const timer = setTimeout(() => deadline.abort(), seconds * 1_000);
  let calls = 0;
  let used = 0;
  let dense: number = tokensOfCharacter;
  const tokensOf = (characters: number): number => Math.ceil(characters * dense);
  return {
    signal: deadline.signal,
    takeCall() {
      calls += 1;
      return calls <= maxToolCalls;
    },
    outputFor(characters) {
      const room = maxTokens - used - tokensOf(characters);
      return room < leastOutput ? undefined : Math.min(mostOutput, room);
    },
    ending(characters) {
      const late = performance.now() - begun > seconds * 1_000 * shareForLooking;
      return late || calls >= maxToolCalls || used + 2 * tokensOf(characters) + oneRound > maxTokens;
    },
    count({ tokens, text, calls: called }, characters) {
      if (tokens) dense = Math.max(tokensOfCharacter, tokens.input / characters);
      const written = text.length + JSON.stringify(called).length;
      used += tokens ? tokens.input + tokens.output : tokensOf(characters + written);
    },
    close: () => clearTimeout(timer),
  };
}

const headerText = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII');

const apiUrl = z
  .string()
  .refine(isApiUrl, 'must be an http or https URL without user, query or fragment')
  .transform((value) => value.replace(/\/+$/, ''));

export const configSchema = z
  .strictObject({
    provider: z.enum(['anthropic', 'openai']).meta({
      description:
        'Which API: Anthropic Messages, or chat completions as OpenAI, Azure, vLLM, Ollama, OpenRouter have them',
    }),
    baseUrl: apiUrl.optional().meta({ description: "If not the provider's own" }),
    model: z.string().regex(/^[\w.:/@-]{1,100}$/, 'must be the name of a model'),
    apiKey: headerText.optional(),
    apiVersion: z
      .string()
      .regex(/^[\w.-]{1,40}$/)
      .optional()
      .meta({ description: 'The header anthropic-version; the parameter api-version of Azure' }),
    headers: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header'), headerText)
      .default({})
      .meta({ description: 'Sent with each request' }),
    outputTokensField: z
      .enum(['max_completion_tokens', 'max_tokens'])
      .default('max_completion_tokens')
      .meta({ description: 'provider openai: how the API calls the limit of its output; Ollama: max_tokens' }),
    limits: z
      .strictObject({
        maxToolCalls: z.coerce.number().int().min(1).max(50).default(20),
        maxTokens: z.coerce.number().int().min(10_000).max(10_000_000).default(400_000).meta({
          description: 'Of one investigation, input and output of all requests together',
        }),
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
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
