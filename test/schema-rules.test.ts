import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { isObject } from '../src/contract/core/index.ts';
import { Toolbox } from './support/tools.ts';

/* Whether model APIs take our tools as they are: what each publishes of its limits, as rules. */

const node: z.ZodType<Record<string, unknown>> = z.record(z.string(), z.unknown());
const tool = z.object({ name: z.string(), description: z.string(), inputSchema: node, outputSchema: node });
type Tool = z.output<typeof tool>;
type Node = Readonly<Record<string, unknown>>;

/** Every schema in a schema, itself too, with how deep it lies in objects. */
function schemasIn(schema: unknown, depth = 1): { readonly schema: Node; readonly depth: number }[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? Object.values(schema['properties']) : [];
  const choices: readonly unknown[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const inner = [...properties, ...choices, schema['items'], schema['additionalProperties']];
  return [{ schema: { ...schema }, depth }, ...inner.flatMap((each) => schemasIn(each, depth + 1))];
}

/** Keywords of a tool's input that are not in the list. */
function otherKeywords({ inputSchema }: Tool, known: string): readonly string[] {
  const list = new Set(known.split(' '));
  return schemasIn(inputSchema).flatMap(({ schema }) => Object.keys(schema).filter((keyword) => !list.has(keyword)));
}

interface Rule {
  readonly api: string;
  /** Where it is published. */
  readonly source: string;
  /** What of a tool breaks it. */
  readonly broken: (tool: Tool) => readonly string[];
}

function notOfVertex(schema: Node): readonly string[] {
  return [
    ...when(typeof schema['type'] !== 'string', 'a type that is no text'),
    ...when('enum' in schema && schema['type'] !== 'string', 'values of something else'),
    ...when('anyOf' in schema, 'anyOf'),
    ...when(schema['type'] === 'array' && !isObject(schema['items']), 'an array of anything'),
  ];
}

const named = (pattern: RegExp) => (each: Tool) => (pattern.test(each.name) ? [] : [`the name ${each.name}`]);
const when = (isBroken: boolean, what: string) => (isBroken ? [what] : []);

const rules: readonly Rule[] = [
  {
    api: 'OpenAI function calling: names',
    source: 'platform.openai.com/docs/api-reference/chat/create#chat-create-tools (function.name)',
    broken: named(/^[a-zA-Z0-9_-]{1,64}$/),
  },
  {
    api: 'OpenAI function calling: descriptions of 1,024 characters',
    source: 'github.com/getsentry/sentry-mcp/issues/106 (string_above_max_length of tools[].function.description)',
    broken: ({ description }) => when(description.length > 1_024, `${description.length} characters`),
  },
  {
    api: 'OpenAI strict mode: keywords',
    source: 'platform.openai.com/docs/guides/structured-outputs#supported-schemas',
    broken: (each) =>
      otherKeywords(
        each,
        'type properties required additionalProperties description enum const items anyOf pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems',
      ),
  },
  {
    api: 'OpenAI strict mode: objects are closed, and the root is one',
    source:
      'platform.openai.com/docs/guides/structured-outputs#additionalproperties-false-must-always-be-set-in-objects',
    broken: ({ inputSchema }) => [
      ...when(inputSchema['type'] !== 'object' || 'anyOf' in inputSchema, 'the root'),
      ...schemasIn(inputSchema).flatMap(({ schema }) =>
        when(schema['type'] === 'object' && schema['additionalProperties'] !== false, 'an open object'),
      ),
    ],
  },
  {
    api: 'OpenAI strict mode: 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters of names and values',
    source: 'platform.openai.com/docs/guides/structured-outputs#objects-have-limitations-on-nesting-depth-and-size',
    broken: ({ inputSchema }) => {
      const all = schemasIn(inputSchema);
      const names = all.flatMap(({ schema }) =>
        isObject(schema['properties']) ? Object.keys(schema['properties']) : [],
      );
      const values = all.flatMap(({ schema }) => (Array.isArray(schema['enum']) ? schema['enum'].map(String) : []));
      return [
        ...when(names.length > 5_000, 'properties'),
        ...when(
          all.some(({ depth }) => depth > 10),
          'levels',
        ),
        ...when(values.length > 1_000, 'values'),
        ...when([...names, ...values].join('').length > 120_000, 'characters'),
      ];
    },
  },
  {
    api: 'Gemini and Vertex AI: names',
    source:
      'ai.google.dev/api/caching#FunctionDeclaration; cloud.google.com/vertex-ai/docs/reference/rest/v1/FunctionDeclaration',
    broken: named(/^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/),
  },
  {
    api: 'Gemini: keywords of parametersJsonSchema',
    source: 'ai.google.dev/api/generate-content#FIELDS.response_json_schema',
    broken: (each) =>
      otherKeywords(
        each,
        '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering',
      ),
  },
  {
    api: 'Vertex AI: keywords of Schema, one type each, values of texts alone, anyOf alone',
    source: 'cloud.google.com/vertex-ai/docs/reference/rest/v1/Schema; github.com/akitaonrails/ai-memory/issues/450',
    broken: (each) => [
      ...otherKeywords(
        each,
        'type format title description nullable default items minItems maxItems enum properties propertyOrdering required minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf additionalProperties',
      ),
      ...schemasIn(each.inputSchema).flatMap(({ schema }) => notOfVertex(schema)),
    ],
  },
  {
    api: 'Amazon Bedrock: names, and a description',
    source: 'docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html',
    broken: (each) => [...named(/^[a-zA-Z0-9_-]{1,64}$/)(each), ...when(each.description.length < 1, 'no description')],
  },
  {
    api: 'Amazon Bedrock agents: names',
    source: 'docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_ToolSpecification.html',
    broken: named(/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/),
  },
];

let box: Toolbox;
let tools: readonly Tool[];
beforeAll(async () => {
  box = await Toolbox.open();
  ({ tools } = z.object({ tools: z.array(tool) }).parse(JSON.parse(box.catalog.legacyList.json.toString())));
});
afterAll(() => box.close());

describe('what model APIs take', () => {
  it.each(rules)('$api', ({ broken, source }) => {
    for (const each of tools) expect([each.name, source, broken(each)]).toEqual([each.name, source, []]);
  });

  it('tells one that breaks them', () => {
    const wrong: Tool = {
      name: 'a tool',
      description: 'x'.repeat(1_025),
      inputSchema: {
        type: 'object',
        properties: { start: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'number' }], description: 'x' } },
      },
      outputSchema: { type: 'object' },
    };
    const kept = rules.filter(({ broken }) => broken(wrong).length === 0).map(({ api }) => api);
    expect(kept).toEqual([
      'OpenAI strict mode: 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters of names and values',
    ]);
  });

  it.each([
    ['draft 7', Ajv],
    ['2020-12', Ajv2020],
  ] as const)('compiles in Ajv’s strict mode as %s, inputs and outputs', (_draft, Validator) => {
    const ajv = new Validator({ strict: true, allErrors: true });
    for (const { inputSchema, outputSchema } of tools) {
      ajv.compile(inputSchema);
      ajv.compile(outputSchema);
    }
    expect(() => ajv.compile({ type: 'object', properties: { a: { type: 'strnig' } } })).toThrow();
    expect(() => ajv.compile({ type: 'object', unknownKeyword: 1 })).toThrow();
  });
});
