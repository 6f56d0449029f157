import { isObject } from '../contract/core/index.ts';
import type { Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';

type ObjectSchema = Tool['inputSchema'];

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** JSON Schema 2020-12 without zod's additions. Outputs stay open, so that a field can be added. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const written = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    override: ({ jsonSchema: json }) => {
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
      if (json.format !== undefined) delete json.pattern;
      // OpenAI's strict mode and Gemini know neither lengths nor defaults. A default stands in the description.
      if (io === 'input') for (const keyword of ['minLength', 'maxLength', 'default'] as const) delete json[keyword];
      if (io === 'output' && json.additionalProperties === false) delete json.additionalProperties;
    },
  });
  if (!isObjectSchema(written)) throw new Error('the schema of a tool must be an object');
  if (io === 'input' && written['additionalProperties'] !== false) {
    throw new Error('the input of a tool must be a strict object');
  }
  const declared = z.globalRegistry.get(schema)?.['$schema'];
  if (written['$schema'] !== dialect || declared !== undefined) return written;
  const { $schema: _, ...rest } = written;
  return rest;
}

function isObjectSchema(written: unknown): written is ObjectSchema {
  return isObject(written) && written['type'] === 'object';
}
