import { toId, type GrantId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { LiveGrant, LiveKey, LiveMember } from '../../../src/contract/storage/index.ts';
import { roleColumn } from '../columns.ts';
import type { Database } from '../database.ts';
import type { Scope } from '../../../src/contract/issuer/index.ts';
import { scopesJson } from '../json.ts';

/** Asked on every request: what a token stands for now. Prepared once. */
export class LiveAccess {
  readonly key: (keyId: string, secretId: string) => Promise<LiveKey | undefined>;
  readonly grant: (id: GrantId) => Promise<LiveGrant | undefined>;
  readonly member: (userId: string, organizationId: OrganizationId) => Promise<LiveMember | undefined>;
  readonly #scopes = new Map<string, readonly Scope[]>();

  constructor(database: Database) {
    this.key = database.lookup(
      'select k.organization_id, k.scopes from api_key_secrets s join api_keys k on k.id = s.key_id' +
        ' where s.key_id = ? and s.id = ?',
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
