import * as runner from '@jest/globals';
import { storageContract } from '../../test/contract/storage.ts';
import { postgresServers } from '../../test/support/postgres.ts';
import { copiedPostgresStores, postgresStore } from './support/store.ts';

const servers = await postgresServers();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => {
    const stores = copiedPostgresStores(server);
    runner.afterAll(() => stores.cleanup());
    storageContract(runner, (without) => (without === 'schema' ? postgresStore(server) : stores.make()));
  });
}
