import type {
  Artifact,
  ArtifactRepository,
  ClientRepository,
  RegisteredClient,
  SigningKeyRecord,
} from '../../../src/contract/storage/index.ts';
import { date, optional, countOf, signingStateColumn } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { DirectoryRepository } from './repository.ts';
import { isId, SightlineError, type GrantId } from '../../../src/contract/core/index.ts';

const expiredAtOnce = 1_000;

/** What has expired is not found any more, whether it was removed yet or not. */
export class Artifacts extends DirectoryRepository implements ArtifactRepository {
  upsert(artifact: Artifact): Promise<void> {
    const { grantId } = artifact;
    const { consumed_at, ...row } = toRow(artifact);
    return this.database.write(async (knex) => {
      if (grantId !== undefined && isId('gra', grantId) && !(await isGranted(knex, grantId))) return;
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

/** Until the end of the transaction. What belongs to a grant that ended meanwhile is not kept, for nothing would remove it. */
async function isGranted(knex: Statements, id: GrantId): Promise<boolean> {
  return (await knex('grants').where({ id }).forShare().first('id')) !== undefined;
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

export class SigningKeys extends DirectoryRepository {
  list(): Promise<readonly SigningKeyRecord[]> {
    return this.all(ordered, toKeyRecord);
  }

  replace(expected: readonly string[], keys: readonly SigningKeyRecord[]): Promise<boolean> {
    return this.database.write(async (knex) => {
      // Two instances at their first start both see no keys; this row is what one of them waits for.
      await knex('locks').where({ name: 'signing_keys' }).increment('taken', 1);
      const present = (await ordered(knex)).map(({ kid }) => kid);
      if (present.length !== expected.length || present.some((kid, index) => kid !== expected[index])) return false;
      await knex('signing_keys').delete();
      if (keys.length > 0) await knex('signing_keys').insert(keys.map(toKeyRow));
      return true;
    });
  }
}

function ordered(knex: Statements) {
  return knex('signing_keys').orderBy('position');
}

function toKeyRow(key: SigningKeyRecord, position: number): RowIn<'signing_keys'> {
  return {
    kid: key.kid,
    position,
    algorithm: key.algorithm,
    state: key.state,
    public_jwk: key.publicJwk,
    sealed_private_jwk: key.sealedPrivateJwk,
    created_at: key.createdAt.getTime(),
    state_since: key.stateSince.getTime(),
  };
}

function toKeyRecord(row: RowIn<'signing_keys'>): SigningKeyRecord {
  if (row.algorithm !== 'ES256') throw new TypeError(`signing key ${row.kid} has an unknown algorithm`);
  return {
    kid: row.kid,
    algorithm: row.algorithm,
    state: signingStateColumn.parse(row.state),
    publicJwk: row.public_jwk,
    sealedPrivateJwk: row.sealed_private_jwk,
    createdAt: date(row.created_at),
    stateSince: date(row.state_since),
  };
}
