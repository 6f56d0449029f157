import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { loadMasterKeys } from '../../src/gateway/process/vault.ts';
import { startFront, type Front } from './front.ts';
import { withShared } from './forms/config.ts';
import type { SharedStorage } from './forms/form.ts';
import { postgresServer, storeOn } from './stores.ts';

/**
 * What two gateways have in common that stand for the one of a data directory: their storage in a database server, their
 * telemetry in PostgreSQL, their master key, and the proxy before them.
 */
export interface TwoGateways {
  readonly front: Front;
  /** Of each its own data directory; the first is the one that they stand for. */
  readonly directories: readonly [string, string];
  /** The arguments of a command, with the config file that they name made over to what is shared. */
  configured(args: readonly string[]): readonly string[];
  close(): Promise<void>;
}

export async function makeTwoGateways(dataDirectory: string, storage: SharedStorage): Promise<TwoGateways> {
  const [postgres, store] = await Promise.all([postgresServer(), storeOn(storage)]);
  const warehouse = await createWarehouse(postgres.server);
  const front = await startFront();
  const directories = [dataDirectory, `${dataDirectory}-second`] as const;
  // A test that brings the key of another gateway keeps it.
  await loadMasterKeys(dataDirectory, undefined);
  await mkdir(directories[1], { recursive: true });
  await copyFile(join(dataDirectory, 'master.key'), join(directories[1], 'master.key'));
  const shared = {
    publicUrl: front.url,
    storage: { plugin: 'knex', ...store.process.config },
    telemetry: { plugin: 'postgres', ...warehouse.config },
  };
  return {
    front,
    directories,
    configured: (args) => withShared(args, dataDirectory, shared),
    async close() {
      await front.close();
      await warehouse.cleanup();
      await store.cleanup();
      await postgres.done();
      await rm(directories[1], { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
