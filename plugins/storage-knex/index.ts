import { resolve } from 'node:path';
import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/index.ts';
import { sqlite } from './sqlite/dialect.ts';
import { KnexStorage } from './storage.ts';

const configSchema = z.strictObject({
  client: z.literal('sqlite').default('sqlite').meta({ description: 'The database: a SQLite file.' }),
  filename: z
    .string()
    .min(1)
    // It would be lost at the end, and each connection would see another one.
    .refine((name) => name !== ':memory:' && !name.startsWith('file:'), 'must be the path of a file')
    .optional()
    .meta({
      description: 'The SQLite file; a relative path counts from the data directory. Default: sightline.sqlite there.',
    }),
});

/** What the gateway keeps, in a SQL database reached through knex. */
export default definePlugin({
  kind: 'storage',
  name: 'knex',
  apiVersion,
  configSchema,
  create: ({ filename = 'sightline.sqlite' }, host) =>
    new KnexStorage(sqlite(resolve(host.dataDirectory, filename)), host),
});
