import { afterAll, describe } from '@jest/globals';
import { mysqlStore, postgresStore } from '../../plugins/storage-knex/support/store.ts';
import { mysqlServers } from '../support/mysql.ts';
import { postgresServers } from '../support/postgres.ts';
import { onServer } from './support/store.ts';
import { tamperingPromises } from './support/tampering.ts';

const [postgres, mysql] = [await postgresServers(), await mysqlServers()];
afterAll(async () => {
  for (const server of [...postgres, ...mysql]) await server.stop();
});

for (const server of postgres)
  describe(`on ${server.name}`, () => tamperingPromises(() => onServer(postgresStore(server))));
for (const server of mysql) describe(`on ${server.name}`, () => tamperingPromises(() => onServer(mysqlStore(server))));
