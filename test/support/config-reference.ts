import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from './gateway.ts';

/* docs/configuration.md: `npm run docs:config` writes it, and a test compares. */

const leaf = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  $ref: z.string().optional(),
});
type Schema = z.output<typeof schemaShape>;
const schemaShape = leaf.extend({
  get properties() {
    return z.record(z.string(), schemaShape).optional();
  },
  get items() {
    return schemaShape.optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), schemaShape]).optional();
  },
  get anyOf() {
    return z.array(schemaShape).optional();
  },
  get oneOf() {
    return z.array(schemaShape).optional();
  },
});

const kinds = ['storage', 'issuer', 'telemetry', 'agent', 'alerts'];

export async function writeConfigReference(): Promise<string> {
  const text = await readFile(join(root, 'config', 'sightline.schema.json'), 'utf8');
  const { properties = {} } = schemaShape.parse(JSON.parse(text));
  const own = Object.fromEntries(
    Object.entries(properties).filter(([key]) => !kinds.includes(key) && key !== '$schema'),
  );
  return [
    '# Configuration reference',
    '',
    'Every key of `sightline.config.yaml`, written by `npm run docs:config` from the schemas that check it. A value may be',
    '`${env:NAME}`, `${env:NAME:-default}` or `${file:/path}`; `$$` is a plain dollar. An unknown key is an error.',
    '`sightline config check` tries a file; for completion begin a YAML file with',
    '`# yaml-language-server: $schema=…/sightline.schema.json`, which `sightline config schema` prints.',
    '',
    '## The gateway',
    '',
    ...lines({ properties: own }, ''),
    '',
    ...kinds.flatMap((kind) => plugins(kind, properties[kind] ?? {})),
  ].join('\n');
}

function plugins(kind: string, section: Schema): readonly string[] {
  const list = section.items ?? section;
  return (list.oneOf ?? []).flatMap((plugin) => {
    const several = plugin.oneOf ?? [plugin];
    const name = several[0]?.properties?.['plugin']?.const;
    if (typeof name !== 'string') return [];
    const written = [...new Set(several.flatMap((variant) => lines(variant, section.items ? '' : `${kind}.`)))];
    if (written.length === 0) written.push('It has no keys of its own.');
    return [[`## ${kind}: ${name}`, '', written.join('\n'), ''].join('\n')];
  });
}

/** A line for each key, sections by the names of what is in them. */
function lines(schema: Schema, prefix: string): readonly string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([key]) => key !== 'plugin')
    .flatMap(([key, value]) => entries(value, `${prefix}${key}`));
}

function entries(schema: Schema, key: string): readonly string[] {
  const variants = variantsOf(schema);
  const below = variants.flatMap((variant) => [
    ...lines(variant, `${key}.`),
    ...(variant.items ? variantsOf(variant.items).flatMap((item) => lines(item, `${key}[].`)) : []),
    ...(typeof variant.additionalProperties === 'object' ? lines(variant.additionalProperties, `${key}.NAME.`) : []),
  ]);
  const description = schema.description ?? variants.find((variant) => variant.description)?.description;
  const isSection = below.length > 0 && variants.every((variant) => variant.properties !== undefined);
  if (isSection && description === undefined) return [...new Set(below)];
  const type = typesOf(variants);
  const preset = schema.default === undefined || isSection ? '' : `, by default \`${JSON.stringify(schema.default)}\``;
  const said = description === undefined ? '' : `: ${description}`;
  return [`- \`${key}\` (${type}${preset})${said}`, ...new Set(below)];
}

/** What a value may be, references aside. */
function variantsOf(schema: Schema): readonly Schema[] {
  const several = schema.anyOf ?? schema.oneOf;
  if (several === undefined) return [schema];
  return several.filter(({ $ref }) => $ref !== '#/definitions/reference').flatMap(variantsOf);
}

/** Numbers and flags may be given as text, which goes without saying. */
function typesOf(variants: readonly Schema[]): string {
  const all = [...new Set(variants.map(typeOf).filter((word) => word !== ''))];
  const isScalar = all.some((word) => /number|true/.test(word));
  return all.filter((word) => !isScalar || word !== 'text').join(' or ');
}

function typeOf({ type, const: only, enum: values, minimum, maximum, items, properties }: Schema): string {
  if (typeof only === 'string') return `\`${only}\``;
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (type === 'array') {
    const each = items === undefined ? '' : typesOf(variantsOf(items));
    return each === '' ? 'list' : `list of ${each === 'text' ? 'texts' : each === 'section' ? 'sections' : each}`;
  }
  if (type === 'object') return properties === undefined ? 'names and values' : 'section';
  if (type === 'boolean') return 'true or false';
  if (type === 'string') return 'text';
  if (type !== 'integer' && type !== 'number') return '';
  const [from, to] = [bound('from', minimum), bound('to', maximum)];
  return `${type === 'integer' ? 'whole number' : 'number'}${from}${to}`;
}

function bound(word: string, value: number | undefined): string {
  return value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? '' : ` ${word} ${value}`;
}

if (import.meta.main) process.stdout.write(`${(await writeConfigReference()).trimEnd()}\n`);
