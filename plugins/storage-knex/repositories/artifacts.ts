import type { Artifact, ArtifactRepository } from '../../../src/contract/storage/index.ts';
import { date, optional } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';

const expiredAtOnce = 1_000;

/** What has expired is not found any more, whether it was removed yet or not. */
export class Artifacts extends DirectoryRepository implements ArtifactRepository {
  upsert(artifact: Artifact): Promise<void> {
    const { consumed_at, ...row } = toRow(artifact);
    return this.database.write(async (knex) => {
      await knex('artifacts')
        .insert({ ...row, consumed_at })
        .onConflict(['model', 'id'])
        // Saving a code again must not make it usable again.
        .merge(consumed_at === null ? row : { ...row, consumed_at });
    });
  }

  find(model: string, id: string): Promise<Artifact | undefined> {
    return this.#first({ model, id });
  }

  findBy(model: string, field: 'uid' | 'userCode', value: string): Promise<Artifact | undefined> {
    return this.#first(field === 'uid' ? { model, uid: value } : { model, user_code: value });
  }

  consume(model: string, id: string, at: Date): Promise<boolean> {
    return this.some((knex) =>
      this.#alive(knex).where({ model, id }).whereNull('consumed_at').update({ consumed_at: at.getTime() }),
    );
  }

  async destroy(model: string, id: string): Promise<void> {
    await this.database.write((knex) => knex('artifacts').where({ model, id }).delete());
  }

  async revokeGrant(grantId: string): Promise<void> {
    await this.database.write((knex) => knex('artifacts').where({ grant_id: grantId }).delete());
  }

  /** In small transactions, so that a large backlog does not block writers. */
  async removeExpired(before: Date): Promise<number> {
    for (let removed = 0; ;) {
      const batch = await this.database.write(async (knex) => {
        const expired = await knex('artifacts')
          .where('expires_at', '<=', before.getTime())
          .limit(expiredAtOnce)
          .select('model', 'id');
        if (expired.length === 0) return 0;
        return (
          knex('artifacts')
            .whereIn(
              ['model', 'id'],
              expired.map(({ model, id }) => [model, id]),
            )
            // One that was saved again meanwhile lives.
            .where('expires_at', '<=', before.getTime())
            .delete()
        );
      });
      removed += batch;
      if (batch < expiredAtOnce) return removed;
    }
  }

  #first(match: Partial<RowIn<'artifacts'>>): Promise<Artifact | undefined> {
    return this.one((knex) => this.#alive(knex).where(match).first(), toArtifact);
  }

  #alive(knex: Statements) {
    const now = this.now().getTime();
    return knex('artifacts').where((alive) => void alive.whereNull('expires_at').orWhere('expires_at', '>', now));
  }
}

function toRow(artifact: Artifact): RowIn<'artifacts'> {
  return {
    model: artifact.model,
    id: artifact.id,
    payload: artifact.payload,
    grant_id: artifact.grantId ?? null,
    uid: artifact.uid ?? null,
    user_code: artifact.userCode ?? null,
    consumed_at: artifact.consumedAt?.getTime() ?? null,
    expires_at: artifact.expiresAt?.getTime() ?? null,
  };
}

function toArtifact(row: RowIn<'artifacts'>): Artifact {
  return {
    model: row.model,
    id: row.id,
    payload: row.payload,
    ...optional('grantId', row.grant_id, String),
    ...optional('uid', row.uid, String),
    ...optional('userCode', row.user_code, String),
    ...optional('consumedAt', row.consumed_at, date),
    ...optional('expiresAt', row.expires_at, date),
  };
}
