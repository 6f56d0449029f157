import { resolve } from 'node:path';
import type { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema, settingsOf } from './config.ts';
import type { Dialect } from './dialect.ts';
import { KnexStorage } from './storage.ts';

/** What the gateway keeps, in a SQL database reached through knex. */
export default definePlugin({
  kind: 'storage',
  name: 'knex',
  apiVersion,
  configSchema,
  create(config, host) {
    return new KnexStorage(dialectOf(config, host.dataDirectory), host);
  },
});

/** Loads the driver of the configured database alone: the others are a tenth of the modules that a command loads. */
function dialectOf(config: z.output<typeof configSchema>, dataDirectory: string): Dialect {
  switch (config.client) {
    case 'sqlite': {
      const filename = resolve(dataDirectory, config.filename ?? 'sightline.sqlite');
      const connect = async () => (await import('./sqlite/dialect.ts')).sqlite(filename);
      return { inDataDirectory: true, connect };
    }
    case 'postgres': {
      const settings = settingsOf(config);
      return { connect: async () => (await import('./postgres/dialect.ts')).postgres(settings) };
    }
    case 'mysql': {
      const settings = settingsOf(config);
      return { connect: async () => (await import('./mysql/dialect.ts')).mysql(settings) };
    }
  }
}
