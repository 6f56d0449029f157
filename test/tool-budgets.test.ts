import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import fc from 'fast-check';
import { z } from 'zod';
import { isObject } from '../src/contract/core/index.ts';
import type { Principal } from '../src/contract/issuer/index.ts';
import { parseArguments, readArguments } from '../src/mcp/arguments.ts';
import { alert, Toolbox } from './support/tools.ts';

/* What clients show of tools and results, and what model APIs take of schemas. */

/** Claude Code cuts a description at 2,048 characters, OpenAI-shaped APIs refuse the request over 1,024. */
const longestDescription = 1_000;
/** Claude Code saves a result over about 50,000 characters to a file and shows 2 kB of it. */
const longestResult = 40_000;

const schema: z.ZodType<Record<string, unknown>> = z.record(z.string(), z.unknown());
const list = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({ properties: z.record(z.string(), schema) }),
      outputSchema: schema,
      _meta: schema.optional(),
    }),
  ),
});

let box: Toolbox;
let principal: Principal;
let tools: z.output<typeof list>['tools'];

beforeAll(async () => {
  box = await Toolbox.open();
  const acme = await box.organization('acme');
  principal = acme.principal;
  ({ tools } = list.parse(JSON.parse(box.catalog.legacyList.json.toString())));
});

afterAll(() => box.close());

/** Every schema in a schema, itself too. */
function schemasIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  return isObject(value) ? [{ ...value }, ...Object.values(value).flatMap(schemasIn)] : [];
}

describe('the list of tools', () => {
  it('has at most 4,000 tokens', () => {
    expect(encode(box.catalog.legacyList.json.toString()).length).toBeLessThan(4_000);
  });

  it('has descriptions that no client cuts, and says first what a tool is for', () => {
    for (const { description } of tools) expect(description.length).toBeLessThanOrEqual(longestDescription);
    const [query] = tools;
    const beginning = query?.description.slice(0, 150) ?? '';
    for (const word of ['traces', 'logs', 'metrics', 'errors', 'latency']) expect(beginning).toContain(word);
  });

  it('has input schemas that every model API takes', () => {
    for (const { name, inputSchema } of tools) {
      for (const [property, described] of Object.entries(inputSchema.properties)) {
        expect([name, property, typeof described['description']]).toEqual([name, property, 'string']);
      }
      for (const part of schemasIn(inputSchema)) {
        // Vertex and Gemini refuse anyOf beside other keywords and type arrays; OpenAI's strict mode has no $ref to elsewhere.
        for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', '$schema', 'patternProperties']) {
          expect([name, Object.keys(part)]).not.toEqual([name, expect.arrayContaining([keyword])]);
        }
        expect(Array.isArray(part['type'])).toBe(false);
        if (part['type'] === 'array') expect(part['items']).toBeDefined();
      }
    }
  });

  it('has no anyOf in what tools answer, by which a host of views fails', () => {
    for (const { name, outputSchema } of tools) {
      for (const part of schemasIn(outputSchema))
        expect([name, Object.keys(part)]).not.toEqual([name, expect.arrayContaining(['anyOf'])]);
    }
  });

  it('names one view for the tools that have one', () => {
    const named = tools.filter(({ _meta: about }) => about?.['ui'] !== undefined);
    expect(named.map(({ name }) => name)).toEqual(['query_otel', 'read_incident', 'read_chat']);
    for (const { _meta: about } of named)
      expect(about?.['ui']).toEqual({ resourceUri: expect.stringMatching(/^ui:\/\/sightline\/[0-9a-f]{8}$/) });
  });

  it('asks clients for room where a result may be longer', () => {
    expect(tools[0]?._meta).toEqual({ 'anthropic/maxResultSizeChars': 500_000, ui: expect.any(Object) });
  });
});

describe('arguments', () => {
  it('of any tool may be absent in any of the ways that clients write it', () => {
    for (const { name } of box.tools) {
      const entry = box.catalog.entries.get(name);
      if (entry === undefined) throw new Error('unreachable: it is listed');
      const required = new Map<string, unknown>(
        [...entry.kinds].filter(([, kind]) => kind.required).map(([argument]) => [argument, 'x']),
      );
      const optional = [...entry.kinds.keys()].filter((argument) => !required.has(argument));
      const extra = fc.constantFrom(
        'toolCallId',
        'sessionId',
        'action',
        'chatInput',
        'task_progress',
        'random_string',
        '_m',
      );
      fc.assert(
        fc.property(
          fc
            .subarray(optional)
            .chain((absent) => fc.tuple(...absent.map((key) => fc.tuple(fc.constant(key), fc.constantFrom(null, ''))))),
          fc.dictionary(extra, fc.jsonValue({ maxDepth: 1 })),
          (absent, added) => {
            const bare = Object.fromEntries(required);
            const sent = { ...bare, ...Object.fromEntries(absent), ...added };
            expect(parseArguments(entry, readArguments(entry, sent))).toEqual(parseArguments(entry, bare));
          },
        ),
        { numRuns: 50 },
      );
    }
  });

  it('may be lists as JSON text, one value for a list, and numbers as text', async () => {
    const entry = box.catalog.entries.get('list_incidents');
    if (entry === undefined) throw new Error('unreachable: it is listed');
    const parse = (args: Record<string, unknown>) => parseArguments(entry, readArguments(entry, args));
    const wanted = parse({ status: ['open', 'resolved'], limit: 5 });
    expect(parse({ status: '["open","resolved"]', limit: '5' })).toEqual(wanted);
    expect(parse({ statuses: 'open' })).toEqual(parse({ status: ['open'] }));
  });

  it('names the nearest one where there is none of that name', () => {
    const entry = box.catalog.entries.get('read_incident');
    if (entry === undefined) throw new Error('unreachable: it is listed');
    expect(() => parseArguments(entry, { incidentId: 'INC-1' })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Did you mean incident_id?') }),
    );
  });
});

/** Texts and numbers in a result, but for the list of what is untrusted and how long it took. */
function leaves(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter((word) => word.length > 3);
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === 'untrusted' ? [] : leaves(inner)));
}

describe('results', () => {
  it('fit every client, begin with what a model needs, and say the same in both forms', async () => {
    const wide = 'SELECT range AS n, md5(range::VARCHAR) AS hash, repeat(chr(8364), 20) AS text FROM range(5000)';
    const { structured, raw, text } = await box.call(principal, 'query_otel', { sql: wide });
    expect(structured).toMatchObject({ truncated: true, result_id: expect.any(String) });
    expect(raw.length).toBeLessThan(longestResult);
    expect(text.length).toBeLessThan(longestResult);
    expect(Object.keys(structured)).toEqual([
      'row_count',
      'truncated',
      'truncation',
      'result_id',
      'warnings',
      ...(structured['window'] === undefined ? [] : ['window']),
      'dialect',
      'elapsed_ms',
      'columns',
      'rows',
    ]);
    for (const leaf of leaves(structured)) expect(text).toContain(leaf);
  });

  it.each([
    [3_500, 8_000],
    [9_000, 20_000],
    [11_000, 25_000],
  ])('in both forms together fit a client that has room for %s bytes of rows', async (roomBytes, shown) => {
    const wide = 'SELECT range AS n, md5(range::VARCHAR) AS hash FROM range(5000)';
    const first = await box.call(principal, 'query_otel', { sql: wide }, { roomBytes });
    expect(first.raw.length + first.text.length).toBeLessThan(shown);
    const page = { result_id: first.structured['result_id'], offset: first.structured['row_count'] };
    const second = await box.call(principal, 'query_otel', page, { roomBytes });
    expect(second.raw.length + second.text.length).toBeLessThan(shown);
    const asked = await box.call(principal, 'query_otel', { sql: wide, max_bytes: 30_000 }, { roomBytes });
    expect(asked.raw.length).toBeGreaterThan(20_000);
  });

  it('of the incident tools say the same in both forms', async () => {
    const { workspace, principal: owner } = await box.organization('forms');
    const { id, key } = await workspace.incidents.create(
      {
        title: 'Checkout fails',
        severity: 'high',
        source: 'test',
        startedAt: new Date(),
        services: ['checkout'],
        environment: 'production',
        labels: { team: 'payments' },
      },
      alert,
    );
    const chat = await box.call(owner, 'start_chat', { message: 'Why does checkout fail?', incident_id: id });
    const chatId = String(chat.structured['chat_id']);
    const results = [
      chat,
      await box.call(owner, 'list_incidents', {}),
      await box.call(owner, 'read_incident', { incident_id: key }),
      await box.call(owner, 'list_chats', {}),
      await box.call(owner, 'read_chat', { chat_id: chatId }),
      await box.call(owner, 'send_chat_reply', { chat_id: chatId, message: 'Since noon.' }),
      await box.call(owner, 'get_ingest_config', {}),
    ];
    for (const { structured, text } of results) for (const leaf of leaves(structured)) expect(text).toContain(leaf);
    expect(chat.structured['next']).toEqual({ tool: 'read_chat', arguments: { chat_id: chatId, wait_seconds: 20 } });
  });
});
