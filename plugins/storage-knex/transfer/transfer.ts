import type { StorageSnapshot, Transfer, TransferBatch } from '../../../src/contract/storage/index.ts';
import type { Database } from '../database.ts';
import { schemaVersion } from '../migrations/run.ts';
import { fill, refusals } from './restore.ts';
import { lookAt } from './snapshot.ts';

export class KnexTransfer implements Transfer {
  readonly schema = schemaVersion;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  snapshot<Result>(
    artifacts: readonly string[],
    work: (snapshot: StorageSnapshot) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.snapshot(async (knex) => work(await lookAt(knex, artifacts)));
  }

  restore(batches: AsyncIterable<TransferBatch>): Promise<void> {
    return this.#database.fill((knex) => fill(knex, batches), refusals);
  }
}
