import { SightlineError } from '../../../src/contract/core/index.ts';
import type { ClientRepository, RegisteredClient } from '../../../src/contract/storage/index.ts';
import { countOf, date } from '../columns.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

/** As long as somebody may take to sign in. */
const keptUnusedMs = 15 * 60_000;
/** A limit that was lowered is reached in steps, so that no registration holds the write lock for long. */
const removedAtOnce = 500;

export class Clients extends DirectoryRepository implements ClientRepository {
  register({ id, metadata, createdAt }: RegisteredClient, mostUnused: number): Promise<boolean> {
    return this.database.write(
      async (knex) => {
        // What is counted stays so until the end.
        await knex('locks').where({ name: 'oauth_clients' }).increment('taken', 1);
        if (!(await this.#makeRoom(knex, mostUnused))) return false;
        await knex('oauth_clients').insert({ id, metadata, created_at: createdAt.getTime(), used_at: null });
        return true;
      },
      { duplicate: new SightlineError('conflict', 'A client with this id is registered already.') },
    );
  }

  find(id: string): Promise<RegisteredClient | undefined> {
    return this.one(
      (knex) => knex('oauth_clients').where({ id }).first(),
      ({ metadata, created_at }) => ({ id, metadata, createdAt: date(created_at) }),
    );
  }

  /** Only the first use is written, for that is all a registration has to know. */
  async markUsed(id: string, at: Date): Promise<void> {
    const first = await this.database.read((knex) => unused(knex).where({ id }).first('id'));
    if (first === undefined) return;
    await this.database.write((knex) => unused(knex).where({ id }).update({ used_at: at.getTime() }));
  }

  async #makeRoom(knex: Statements, mostUnused: number): Promise<boolean> {
    const kept = await countOf(unused(knex));
    if (kept < mostUnused) return true;
    const old = await unused(knex)
      .where('created_at', '<=', this.now().getTime() - keptUnusedMs)
      .orderBy(['created_at', 'id'])
      .limit(Math.min(kept - mostUnused + 1, removedAtOnce))
      .select('id');
    const ids = old.map(({ id }) => id);
    const removed = ids.length === 0 ? 0 : await unused(knex).whereIn('id', ids).delete();
    return kept - removed < mostUnused;
  }
}

function unused(knex: Statements) {
  return knex('oauth_clients').whereNull('used_at');
}
