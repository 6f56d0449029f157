import { foldCase, SightlineError, toId, type ScimUserId, type UserId } from '../../../../src/contract/core/index.ts';
import type {
  RoleChange,
  ScimPage,
  ScimRepository,
  ScimRules,
  ScimToken,
  ScimTokenRepository,
  NewScimToken,
  ScimUser,
} from '../../../../src/contract/storage/index.ts';
import type { ScimTokenId } from '../../../../src/contract/core/index.ts';
import { boolean, countOf, date, optional, roleColumn } from '../../columns.ts';
import type { RowIn } from '../../rows.ts';
import type { Scope } from '../../scope.ts';
import type { Statements } from '../../transact.ts';
import { OrganizationRepository } from '../repository.ts';
import { endInvitationsOf, traitsOf } from '../users.ts';

/** Those that are there: of one that was deleted only the account and the fact are kept, without a user name. */
export function present(scope: Scope) {
  return scope.from('scim_users').whereNotNull('scim_users.user_key');
}

/** What each organization's directory said last of a person, by this account or by an erased one. */
export async function lastSaid(knex: Statements, userId: UserId): Promise<ReadonlyMap<string, 'active' | 'left'>> {
  const said = new Map<string, 'active' | 'left'>();
  for (const id of await departures(knex, await traitsOf(knex, userId))) said.set(id, 'left');
  for (const row of await knex('scim_users').where({ user_id: userId }).select('organization_id', 'active')) {
    said.set(row.organization_id, boolean(row.active) ? 'active' : 'left');
  }
  return said;
}

export function departures(knex: Statements, traits: readonly string[]): Promise<readonly string[]> {
  return knex('scim_departures').whereIn('hash', traits).distinct().pluck('organization_id');
}

/** Before the account goes, by which the directory's word is kept until then. */
export async function keepSaid(scope: Scope, traits: readonly string[], said: 'active' | 'left'): Promise<void> {
  if (said === 'active') await scope.from('scim_departures').whereIn('hash', traits).delete();
  else for (const hash of traits) await scope.insertIfAbsent('scim_departures', { hash }, ['organization_id', 'hash']);
}

export async function findUser(scope: Scope, id: ScimUserId): Promise<RowIn<'scim_users'> | undefined> {
  return present(scope).where({ id }).first();
}

export async function findUsers(
  scope: Scope,
  { where, offset, limit }: Parameters<ScimRepository['users']>[0],
): Promise<ScimPage<ScimUser>> {
  const found = () => {
    const query = present(scope);
    if (where.id !== undefined) query.where('id', where.id);
    if (where.account !== undefined) query.where('user_id', where.account);
    if (where.userName !== undefined) query.where('user_key', foldCase(where.userName));
    if (where.externalId !== undefined) query.where('external_id', where.externalId);
    if (where.email !== undefined) query.where('email_key', foldCase(where.email));
    return query;
  };
  const total = await countOf(found());
  const rows = limit === 0 ? [] : await found().orderBy(['created_at', 'id']).offset(offset).limit(limit);
  return { total, items: rows.map(toScimUser) };
}

export function toScimUser(row: RowIn<'scim_users'>): ScimUser {
  return {
    id: toId('scu', row.id),
    userId: toId('usr', row.user_id),
    userName: row.user_name,
    active: boolean(row.active),
    attributes: row.attributes,
    version: row.version,
    createdAt: date(row.created_at),
    updatedAt: date(row.updated_at),
  };
}

/** Whether members of this group are admins. */
export function isAdminGroup(
  group: Pick<RowIn<'scim_groups'>, 'display_key' | 'external_id'>,
  { adminGroups }: ScimRules,
): boolean {
  return adminGroups.some((name) => foldCase(name) === group.display_key || name === group.external_id);
}

/** Makes roles of provisioned members what groups and rules say; of one person, or of all. */
export async function settleRoles(scope: Scope, rules: ScimRules, userId?: string): Promise<readonly RoleChange[]> {
  const groups = (await scope.from('scim_groups')).filter((group) => isAdminGroup(group, rules));
  const admins = scope
    .from('scim_group_members')
    .join('scim_users', 'scim_users.id', 'scim_group_members.member_id')
    .where('scim_users.active', true)
    .whereIn(
      'scim_group_members.group_id',
      groups.map(({ id }) => id),
    );
  const members = scope.from('members').where({ source: 'scim' });
  if (userId !== undefined) {
    admins.where('scim_users.user_id', userId);
    members.where('user_id', userId);
  }
  const wanted = new Set<string>(await admins.pluck('scim_users.user_id'));
  const changed: RoleChange[] = [];
  for (const { user_id, role: before } of await members.orderBy('user_id').select('user_id', 'role')) {
    const role = wanted.has(user_id) ? 'admin' : 'member';
    if (role === roleColumn.parse(before)) continue;
    await scope.from('members').where({ user_id, source: 'scim' }).update({ role });
    // As where an admin is made a member by hand.
    if (role === 'member') {
      await scope.from('invitations').where({ created_by: user_id }).delete();
      await endInvitationsOf(scope, user_id);
    }
    changed.push({ userId: toId('usr', user_id), role });
  }
  return changed;
}

export class ScimTokens extends OrganizationRepository implements ScimTokenRepository {
  create({ id, hash, lastFour, createdBy }: NewScimToken): Promise<void> {
    const row = { id, hash, last_four: lastFour, created_by: createdBy, last_used_at: null };
    return this.database.write(
      async (scope) => {
        await scope.refuseErased(createdBy);
        await scope.insert('scim_tokens', { ...row, created_at: this.now().getTime() });
      },
      { duplicate: new SightlineError('conflict', 'A SCIM token with this id or hash exists already.') },
    );
  }

  list(): Promise<readonly ScimToken[]> {
    return this.all(
      (scope) => scope.from('scim_tokens').orderBy(['created_at', 'id'].map((column) => ({ column, order: 'desc' }))),
      (row) => ({
        id: toId('sct', row.id),
        lastFour: row.last_four,
        createdBy: row.created_by,
        createdAt: date(row.created_at),
        ...optional('lastUsedAt', row.last_used_at, date),
      }),
    );
  }

  revoke(id: ScimTokenId): Promise<boolean> {
    return this.some((scope) => scope.from('scim_tokens').where({ id }).delete());
  }

  async markUsed(id: ScimTokenId, at: Date): Promise<void> {
    this.parts.marks.mark(this.database.organizationId, 'scim_tokens', id, at);
  }
}
