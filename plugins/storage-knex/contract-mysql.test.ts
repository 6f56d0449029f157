import * as runner from '@jest/globals';
import { storageContract } from '../../test/contract/storage.ts';
import { mysqlServers } from '../../test/support/mysql.ts';
import { copiedMysqlStores, mysqlStore } from './support/store.ts';

const servers = await mysqlServers();
runner.afterAll(async () => {
  for (const server of servers) await server.stop();
});

for (const server of servers) {
  runner.describe(`on ${server.name}`, () => {
    const stores = copiedMysqlStores(server);
    runner.afterAll(() => stores.cleanup());
    storageContract(runner, (without) => (without === 'schema' ? mysqlStore(server) : stores.make()));
  });
}
