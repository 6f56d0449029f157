import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Scope } from '../../src/contract/issuer/index.ts';
import {
  SightlineError,
  defineTool,
  type ContentBlock,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../src/contract/core/index.ts';

const empty = z.strictObject({});
const anything = z.object({});
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A 1×1 PNG and a WAV file without samples. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const audio = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const said = (text: string): ToolResult => ({ structured: '{}', text });

function plain(
  name: string,
  run: (context: ToolContext) => Promise<ToolResult> | ToolResult,
  scope: Scope = 'telemetry:read',
) {
  return defineTool({
    name,
    title: name,
    description: `Fixture ${name}`,
    scope,
    annotations,
    input: empty,
    output: anything,
    run: async (_input, context) => run(context),
  });
}

const withContent = (name: string, content: readonly ContentBlock[]) =>
  plain(name, () => ({ structured: '{}', text: name, content }));

const address = z
  .strictObject({ street: z.string().optional(), city: z.string().optional() })
  .meta({ id: 'address', $anchor: 'addressDef' });

/** What the conformance suites ask a tools server for. Registered by tests alone. */
export const conformanceTools: readonly Tool[] = [
  plain('test_simple_text', () => said('This is a simple text response for testing.')),
  plain('test_error_handling', () => {
    throw new SightlineError('invalid_argument', 'This tool intentionally returns an error for testing');
  }),
  plain('test_tool_with_progress', async ({ progress }) => {
    for (const step of [0, 50, 100]) {
      progress(step, `step ${step}`, 100);
      await wait(50);
    }
    return said('done');
  }),
  defineTool({
    ...plain('test_missing_capability', () => said('the client can sample')),
    clientCapabilities: { sampling: {} },
  }),
  plain('test_streaming_elicitation', ({ progress }) => {
    progress(1, 'working');
    return said('nothing was elicited');
  }),
  plain('test_logging_tool', ({ logger }) => {
    logger.info({}, 'goes to our own log, never to the client');
    return said('logged');
  }),
  withContent('test_image_content', [{ type: 'image', data: image, mimeType: 'image/png' }]),
  withContent('test_audio_content', [{ type: 'audio', data: audio, mimeType: 'audio/wav' }]),
  withContent('test_embedded_resource', [
    { type: 'resource', resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'embedded' } },
  ]),
  withContent('test_multiple_content_types', [
    { type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: image, mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"value":123}' } },
  ]),
  defineTool({
    name: 'json_schema_2020_12_tool',
    title: 'JSON Schema 2020-12',
    description: 'Tool with JSON Schema 2020-12 features',
    scope: 'telemetry:read',
    annotations,
    input: z
      .strictObject({
        name: z.string().optional(),
        address: address.optional(),
        contactMethod: z.enum(['phone', 'email']).optional(),
        phone: z.string().optional(),
        email: z.string().optional(),
      })
      .meta({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // oxlint-disable-next-line unicorn/no-thenable -- a JSON Schema keyword
        then: { required: ['phone'] },
        else: { required: ['email'] },
      }),
    output: anything,
    run: async () => said('ok'),
  }),
  defineTool({
    name: 'test_custom_header',
    title: 'Custom header',
    description: 'Mirrors two arguments into headers',
    scope: 'telemetry:read',
    annotations,
    input: z.strictObject({
      region: z.string().meta({ 'x-mcp-header': 'Region' }).optional(),
      priority: z.int().meta({ 'x-mcp-header': 'Priority' }).optional(),
      query: z.string().optional(),
    }),
    output: z.object({ region: z.string().optional() }),
    run: async ({ region }) => ({ structured: JSON.stringify({ region }), text: `region ${region ?? 'none'}` }),
  }),
];

/** Echoes; its argument has a second name. */
export const echoTool = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Answers what it was sent. Example: {"text":"hi"}',
  scope: 'telemetry:read',
  annotations,
  input: z.strictObject({
    text: z.string().max(1_000_000).describe('What to answer'),
    times: z.int().min(1).max(10).default(1),
    tag: z.union([z.enum(['a', 'b']), z.array(z.enum(['a', 'b']))]).optional(),
    extra: z.unknown().optional(),
  }),
  aliases: { message: 'text' },
  output: z.object({ text: z.string(), times: z.int() }),
  run: async ({ text, times }, { requestId }) => ({
    structured: JSON.stringify({ text, times }),
    text: text.repeat(times),
    facts: { rows: times, truncated: requestId === '' },
  }),
});

/** Needs a scope that a token can lack. */
export const writeTool = plain('write_note', () => said('written'), 'chats:write');
