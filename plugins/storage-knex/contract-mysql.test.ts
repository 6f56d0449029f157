import * as runner from '@jest/globals';
import { storageContract } from '../../src/contract-tests/storage.ts';
import { mysqlServers } from '../../test/support/mysql.ts';
import { mysqlStore } from './support/store.ts';

const servers = await mysqlServers();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => storageContract(runner, () => mysqlStore(server)));
}
