import * as runner from '@jest/globals';
import { storageContract } from '../../src/contract-tests/storage.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { postgresStore } from './support/store.ts';

const servers = await postgresServers();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => storageContract(runner, () => postgresStore(server)));
}
