import { resolve } from 'node:path';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema, settingsOf } from './config.ts';
import type { Dialect } from './dialect.ts';
import { mysql } from './mysql/dialect.ts';
import { postgres } from './postgres/dialect.ts';
import { sqlite } from './sqlite/dialect.ts';
import { KnexStorage } from './storage.ts';

/** What the gateway keeps, in a SQL database reached through knex. */
export default definePlugin({
  kind: 'storage',
  name: 'knex',
  apiVersion,
  configSchema,
  create(config, host) {
    const dialect = (): Dialect => {
      switch (config.client) {
        case 'sqlite':
          return sqlite(resolve(host.dataDirectory, config.filename ?? 'sightline.sqlite'));
        case 'postgres':
          return postgres(settingsOf(config));
        case 'mysql':
          return mysql(settingsOf(config));
      }
    };
    return new KnexStorage(dialect(), host);
  },
});
