import { z } from 'zod';
import { configSchema } from './schema.ts';

/** A shipped plugin's config schema, to be offered where its section stands. */
export interface ShippedPlugin {
  readonly kind: string;
  readonly name: string;
  readonly configSchema: z.ZodType;
}

/** The JSON Schema for editors (draft 7, which they all know): the core's keys, and each shipped plugin's under its name. */
export function configJsonSchema(shipped: readonly ShippedPlugin[]): string {
  const root = toJsonSchema(configSchema);
  const properties: Record<string, unknown> = { ...record(root['properties']) };
  for (const kind of new Set(shipped.map((plugin) => plugin.kind))) {
    const list = record(properties[kind]);
    const several = list['type'] === 'array';
    const section = {
      oneOf: [
        ...shipped
          .filter((plugin) => plugin.kind === kind)
          // The first of a kind is the default one, so its name may be left out.
          .map((plugin, index) => pluginSection(plugin, several || index > 0)),
        {
          type: 'object',
          description: 'A plugin of your own: an installed package or a path relative to this file',
          properties: { plugin: { type: 'string', pattern: '[./@]' } },
          required: ['plugin'],
        },
      ],
    };
    properties[kind] = several ? { ...list, items: section } : section;
  }
  return `${JSON.stringify({ ...root, properties }, null, 2)}\n`;
}

function pluginSection({ name, configSchema: schema }: ShippedPlugin, isNamed: boolean): object {
  const named = (own: Readonly<Record<string, unknown>>): object => ({
    ...own,
    properties: { plugin: { const: name, default: name }, ...record(own['properties']) },
    required: [...(isNamed ? ['plugin'] : []), ...strings(own['required'])],
  });
  const own = toJsonSchema(schema);
  const { oneOf } = own;
  // Each variant of a union refuses what it does not know, so each has to know the name.
  return Array.isArray(oneOf) ? { ...own, oneOf: oneOf.map((variant) => named(record(variant))) } : named(own);
}

function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
  return rest;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
