import { z } from 'zod';
import type { Tool } from '../../src/contract/core/index.ts';
import { jsonSchema } from '../../src/mcp/catalog.ts';
import { Toolbox } from './tools.ts';

/* docs/tools.md: `npm run docs:tools` writes it, and a test compares. */

type Schema = z.output<typeof schemaShape>;
const schemaShape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  get anyOf() {
    return z.array(schemaShape).optional();
  },
  get oneOf() {
    return z.array(schemaShape).optional();
  },
  get items() {
    return schemaShape.optional();
  },
  get properties() {
    return z.record(z.string(), schemaShape).optional();
  },
  required: z.array(z.string()).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  format: z.string().optional(),
});

export async function writeToolsReference(): Promise<string> {
  const box = await Toolbox.open();
  try {
    return [
      '# Tools',
      '',
      'Written by `npm run docs:tools` from what the gateway serves; of `query_otel` the description changes with the warehouse, and',
      'this is the embedded engine’s. Each tool needs one scope. Unknown arguments are refused, but for those that clients add by themselves. A failed call has `isError` and a',
      'JSON text with `code`, `message` and `hint`.',
      '',
      ...box.tools.flatMap(section),
    ].join('\n');
  } finally {
    await box.close();
  }
}

function section(tool: Tool): readonly string[] {
  const { readOnlyHint, idempotentHint } = tool.annotations;
  const aliases = Object.entries(tool.aliases ?? {}).map(([alias, name]) => `\`${alias}\` for \`${name}\``);
  return [
    `## ${tool.name}`,
    '',
    `${tool.title}. Scope \`${tool.scope}\`; ${readOnlyHint ? 'changes nothing' : 'writes'}${
      !readOnlyHint && idempotentHint ? ', the same when repeated' : ''
    }.${aliases.length > 0 ? ` Also takes ${aliases.join(', ')}.` : ''}`,
    '',
    '```text',
    tool.description,
    '```',
    '',
    ...table('argument', jsonSchema(tool.input, 'input')),
    ...manuals(jsonSchema(tool.input, 'input')),
    ...table('in the answer', jsonSchema(tool.output, 'output')),
  ];
}

function table(title: string, given: object): readonly string[] {
  const { properties = {}, required = [] } = schemaShape.parse(given);
  const rows = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) && schema.default === undefined ? '' : ' (optional)';
    return `| \`${name}\`${mark} | ${cell(typeOf(schema))} | ${cell(notes(schema))} |`;
  });
  if (rows.length === 0) return [];
  return [`| ${title} | type | |`, '|---|---|---|', ...rows, ''];
}

/** Descriptions of several lines, which have no place in a table. */
function manuals(given: object): readonly string[] {
  const { properties = {} } = schemaShape.parse(given);
  return Object.entries(properties).flatMap(([name, { description = '' }]) =>
    description.includes('\n') ? [`\`${name}\`:`, '', '```text', description, '```', ''] : [],
  );
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll(/\s+/g, ' ');
}

function notes({ description = '', default: preset }: Schema): string {
  const parts = [
    description.includes('\n') ? 'See below' : description,
    preset === undefined ? '' : `default \`${JSON.stringify(preset)}\``,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function typeOf(schema: Schema): string {
  const { enum: values, anyOf, oneOf, items, type, format } = schema;
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choice = anyOf ?? oneOf;
  if (choice !== undefined) return [...new Set(choice.map(typeOf))].join('; or ');
  if (type === 'array') return `list${items === undefined ? '' : ` of ${typeOf(items)}`}`;
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? 'any');
  return `${format ?? name}${bounds(schema)}`;
}

function bounds({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `, up to ${maxLength} characters`;
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, from ${minimum}`;
  return maximum === undefined ? '' : `, up to ${maximum}`;
}

if (import.meta.main) process.stdout.write(`${(await writeToolsReference()).trimEnd()}\n`);
