import { z } from 'zod';
import { adminScopes } from '../../contract/storage/index.ts';
import { product } from '../wiring/product.ts';
import { failureShape } from './operation.ts';
import { allOperations, placesOf, routeOf, type NamedOperation } from './index.ts';

/** The OpenAPI 3.1 document of the admin interface. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of allOperations) {
    const route = routeOf(operation);
    paths[route] = { ...paths[route], [operation.method]: describe(operation) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `${product.title} admin interface`,
      version: 'v1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/admin/v1' }],
    security: [{ adminKey: [] }],
    paths,
    components: {
      securitySchemes: {
        adminKey: {
          type: 'http',
          scheme: 'bearer',
          description: `The secret of an admin key (\`sightline admin-key create\`). Scopes: ${adminScopes.join(', ')}.`,
        },
      },
      responses: {
        Failure: {
          description: 'What went wrong',
          content: { 'application/json': { schema: schemaOf(failureShape) } },
        },
      },
    },
  };
}

function describe(operation: NamedOperation): object {
  const { id, path, method, summary, scope, instanceOnly = false, input, output } = operation;
  const route = routeOf(operation);
  const places = placesOf(route);
  const inPath = new Set(placesOf(path));
  const fields = Object.entries(input.shape).filter(([name]) => !inPath.has(name));
  const body = z.strictObject(Object.fromEntries(fields));
  const required = fields.some(([, field]) => !field.safeParse(undefined).success);
  return {
    operationId: id,
    summary,
    description: `Scope: ${scope}.${instanceOnly ? ' Only with a key for all organizations.' : ''}`,
    parameters: [
      ...places.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
        description: wordsOf(input, name),
      })),
      ...(method === 'post' ? [] : fields.map(([name, field]) => ({ name, in: 'query', schema: schemaOf(field) }))),
    ],
    ...(method === 'post' &&
      fields.length > 0 && {
        requestBody: { required, content: { 'application/json': { schema: schemaOf(body) } } },
      }),
    responses: {
      200: {
        description: 'Done',
        content:
          operation.lines === undefined
            ? { 'application/json': { schema: schemaOf(output) } }
            : { 'application/x-ndjson': { schema: { type: 'string' } } },
      },
      default: { $ref: '#/components/responses/Failure' },
    },
  };
}

function wordsOf(input: z.ZodObject, name: string): string {
  const field: unknown = input.shape[name];
  return (
    (field instanceof z.ZodType ? field.description : undefined) ??
    (name === 'organization' ? 'Its id or name' : 'Its id')
  );
}

/** As input for answers, too: so described, one may get more fields later. */
function schemaOf(schema: z.core.$ZodType): object {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return described;
}
