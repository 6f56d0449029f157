import { SightlineError, toId, type GrantId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type {
  ClientRepository,
  RegisteredClient,
  LiveGrant,
  LiveKey,
  LiveMember,
} from '../../../src/contract/storage/index.ts';
import { date, integer, roleColumn } from '../columns.ts';
import type { Database } from '../database.ts';
import type { ClientRow, LockRow } from '../rows.ts';
import type { Statements } from '../transact.ts';
import type { Scope } from '../../../src/contract/issuer/index.ts';
import { scopesJson } from '../json.ts';
import { DirectoryRepository } from './repository.ts';

/** Asked on every request: what a token stands for now. Prepared once. */
export class LiveAccess {
  readonly key: (secretId: string, keyId: string) => Promise<LiveKey | undefined>;
  readonly grant: (id: GrantId) => Promise<LiveGrant | undefined>;
  readonly member: (userId: string, organizationId: OrganizationId) => Promise<LiveMember | undefined>;
  readonly #scopes = new Map<string, readonly Scope[]>();

  constructor(database: Database) {
    this.key = database.lookup(
      'select k.organization_id, k.scopes from api_key_secrets s join api_keys k on k.id = s.key_id' +
        ' where s.id = ? and s.key_id = ?',
      (row) => ({
        organizationId: toId('org', row['organization_id']),
        scopes: this.#parseScopes(String(row['scopes'])),
      }),
    );
    this.grant = database.lookup(
      'select g.user_id, g.organization_id, g.scopes, u.email, m.role from grants g join users u on u.id = g.user_id' +
        ' join members m on m.organization_id = g.organization_id and m.user_id = g.user_id' +
        ' where g.id = ? and u.enabled',
      (row) => ({
        userId: toId('usr', row['user_id']),
        organizationId: toId('org', row['organization_id']),
        email: String(row['email']),
        role: roleColumn.parse(row['role']),
        scopes: this.#parseScopes(String(row['scopes'])),
      }),
    );
    this.member = database.lookup(
      'select u.email, m.role from members m join users u on u.id = m.user_id' +
        ' where m.user_id = ? and m.organization_id = ? and u.enabled',
      (row) => ({ email: String(row['email']), role: roleColumn.parse(row['role']) }),
    );
  }

  /** There are few different lists, and parsing one costs several times the look-up. */
  #parseScopes(text: string): readonly Scope[] {
    let scopes = this.#scopes.get(text);
    if (scopes === undefined) {
      scopes = Object.freeze(scopesJson.read(text).slice());
      if (this.#scopes.size < 1_000) this.#scopes.set(text, scopes);
    }
    return scopes;
  }
}

const keptUnusedMs = 24 * 3_600_000;
/** A limit that was lowered is reached in steps, so that no registration holds the write lock for long. */
const removedAtOnce = 500;

export class Clients extends DirectoryRepository implements ClientRepository {
  register({ id, metadata, createdAt }: RegisteredClient, mostUnused: number): Promise<boolean> {
    return this.database.write(
      async (knex) => {
        // What is counted stays so until the end.
        await knex<LockRow>('locks').where({ name: 'oauth_clients' }).increment('taken', 1);
        if (!(await this.#makeRoom(knex, mostUnused))) return false;
        await knex<ClientRow>('oauth_clients').insert({ id, metadata, created_at: createdAt.getTime(), used_at: null });
        return true;
      },
      { duplicate: new SightlineError('conflict', 'A client with this id is registered already.') },
    );
  }

  find(id: string): Promise<RegisteredClient | undefined> {
    return this.database.read(async (knex) => {
      const row = await knex<ClientRow>('oauth_clients').where({ id }).first();
      return row === undefined ? undefined : { id: row.id, metadata: row.metadata, createdAt: date(row.created_at) };
    });
  }

  /** Only the first use is written, for that is all a registration has to know. */
  async markUsed(id: string, at: Date): Promise<void> {
    const first = await this.database.read((knex) => unused(knex).where({ id }).first('id'));
    if (first === undefined) return;
    await this.database.write((knex) => unused(knex).where({ id }).update({ used_at: at.getTime() }));
  }

  async #makeRoom(knex: Statements, mostUnused: number): Promise<boolean> {
    const [counted] = await unused(knex).count({ kept: 'id' });
    const kept = integer(counted?.['kept'] ?? 0);
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
  return knex<ClientRow>('oauth_clients').whereNull('used_at');
}
