import {
  foldCase,
  newId,
  SightlineError,
  toId,
  type ScimGroupId,
  type ScimUserId,
} from '../../../../src/contract/core/index.ts';
import type {
  RoleChange,
  SavedGroup,
  ScimGroup,
  ScimGroupChange,
  ScimGroupMember,
  ScimPage,
  ScimQuery,
  ScimRepository,
  ScimRules,
  ScimUser,
} from '../../../../src/contract/storage/index.ts';
import { comparable, countOf, date, inChunks, optional, shortText } from '../../columns.ts';
import type { RowIn } from '../../rows.ts';
import type { Scope } from '../../scope.ts';
import { OrganizationRepository } from '../repository.ts';
import { findUser, findUsers, isAdminGroup, present, settleRoles, toScimUser } from './users.ts';

const mostGroups = 5_000;
const mostMembers = 20_000;

export class Scim extends OrganizationRepository implements ScimRepository {
  user(id: ScimUserId): Promise<ScimUser | undefined> {
    return this.one((scope) => findUser(scope, id), toScimUser);
  }

  users(query: Parameters<ScimRepository['users']>[0]): Promise<ScimPage<ScimUser>> {
    return this.database.read((scope) => findUsers(scope, query));
  }

  group(id: ScimGroupId): Promise<ScimGroup | undefined> {
    return this.one((scope) => scope.from('scim_groups').where({ id }).first(), toGroup);
  }

  groups({
    where,
    offset,
    limit,
  }: ScimQuery<'id' | 'displayName' | 'externalId' | 'member'>): Promise<ScimPage<ScimGroup>> {
    return this.database.read(async (scope) => {
      const found = () => {
        const query = scope.from('scim_groups');
        if (where.id !== undefined) query.where('id', where.id);
        if (where.displayName !== undefined) query.where('display_key', foldCase(where.displayName));
        if (where.externalId !== undefined) query.where('external_id', where.externalId);
        if (where.member !== undefined) {
          query.whereIn('id', scope.from('scim_group_members').where({ member_id: where.member }).select('group_id'));
        }
        return query;
      };
      const total = await countOf(found());
      const rows = limit === 0 ? [] : await found().orderBy(['created_at', 'id']).offset(offset).limit(limit);
      return { total, items: rows.map(toGroup) };
    });
  }

  groupMembers(groups: readonly ScimGroupId[], limit: number): Promise<readonly ScimGroupMember[]> {
    return this.all(
      (scope) =>
        scope
          .from('scim_group_members')
          .join('scim_users', 'scim_users.id', 'scim_group_members.member_id')
          .whereIn('scim_group_members.group_id', [...groups])
          .orderBy(['scim_group_members.group_id', 'scim_group_members.member_id'])
          .limit(limit)
          .select('scim_group_members.group_id', 'scim_group_members.member_id', 'scim_users.user_name'),
      (row) => ({ groupId: toId('scg', row.group_id), id: toId('scu', row.member_id), userName: row.user_name }),
    );
  }

  saveGroup(change: ScimGroupChange, rules: ScimRules): Promise<SavedGroup> {
    return this.database.write(
      async (scope) => {
        const now = this.now().getTime();
        const before = change.id === undefined ? undefined : await lockGroup(scope, change.id);
        const group =
          before === undefined ? await insertGroup(scope, change, now) : await updateGroup(scope, before, change, now);
        await changeMembers(scope, group.id, change);
        const decides = isAdminGroup(group, rules) || (before !== undefined && isAdminGroup(before, rules));
        return { group: toGroup(group), roles: decides ? await settleRoles(scope, rules) : [] };
      },
      { duplicate: new SightlineError('conflict', 'There is a group of this name already.') },
    );
  }

  removeGroup(id: ScimGroupId, rules: ScimRules): Promise<readonly RoleChange[] | undefined> {
    return this.database.write(async (scope) => {
      await scope.from('scim_group_members').where({ group_id: id }).delete();
      if ((await scope.from('scim_groups').where({ id }).delete()) === 0) return undefined;
      return settleRoles(scope, rules);
    });
  }

  settleRoles(rules: ScimRules): Promise<readonly RoleChange[]> {
    return this.database.write((scope) => settleRoles(scope, rules));
  }
}

/** Changes of one group's members follow each other. */
async function lockGroup(scope: Scope, id: ScimGroupId): Promise<RowIn<'scim_groups'>> {
  await scope.from('scim_groups').where({ id }).update({ id });
  const row = await scope.from('scim_groups').where({ id }).first();
  if (row === undefined) throw new SightlineError('not_found', 'There is no such group.');
  return row;
}

async function insertGroup(scope: Scope, change: ScimGroupChange, now: number): Promise<RowIn<'scim_groups'>> {
  if ((await countOf(scope.from('scim_groups'))) >= mostGroups) {
    throw new SightlineError('invalid_argument', `An organization has at most ${mostGroups} provisioned groups.`);
  }
  const names = nameColumns(change.displayName ?? '');
  const row = { id: newId('scg'), ...names, external_id: change.externalId ?? null, created_at: now, updated_at: now };
  await scope.insert('scim_groups', row);
  return { ...row, organization_id: scope.organizationId };
}

async function updateGroup(
  scope: Scope,
  before: RowIn<'scim_groups'>,
  { displayName, externalId }: ScimGroupChange,
  now: number,
): Promise<RowIn<'scim_groups'>> {
  const changed = {
    ...(displayName === undefined ? {} : nameColumns(displayName)),
    ...(externalId === undefined ? {} : { external_id: externalId }),
    updated_at: now,
  };
  await scope.from('scim_groups').where({ id: before.id }).update(changed);
  return { ...before, ...changed };
}

function nameColumns(displayName: string): Pick<RowIn<'scim_groups'>, 'display_name' | 'display_key'> {
  const name = shortText('displayName', displayName, 200);
  return { display_name: name, display_key: comparable('displayName', name, 400) };
}

async function changeMembers(scope: Scope, group_id: string, { replace, add = [], remove = [] }: ScimGroupChange) {
  const members = () => scope.from('scim_group_members').where({ group_id });
  if (replace !== undefined) await members().delete();
  for (const ids of inChunks(remove)) await members().whereIn('member_id', ids).delete();
  const removed = new Set(remove);
  const wanted = new Set([...(replace ?? []).filter((id) => !removed.has(id)), ...add]);
  for (const ids of inChunks([...wanted])) {
    const found = new Set<string>(await present(scope).whereIn('id', ids).pluck('id'));
    if (ids.some((id) => !found.has(id))) {
      throw new SightlineError('invalid_argument', 'A member of the group is not among the provisioned users.');
    }
    const there = new Set<string>(await members().whereIn('member_id', ids).pluck('member_id'));
    const fresh = ids.filter((id) => !there.has(id));
    if (fresh.length > 0)
      await scope.insertMany(
        'scim_group_members',
        fresh.map((member_id) => ({ group_id, member_id })),
      );
  }
  if (wanted.size > 0 && (await countOf(members())) > mostMembers) {
    throw new SightlineError('invalid_argument', `A group has at most ${mostMembers} members.`);
  }
}

function toGroup(row: RowIn<'scim_groups'>): ScimGroup {
  return {
    id: toId('scg', row.id),
    displayName: row.display_name,
    ...optional('externalId', row.external_id, String),
    createdAt: date(row.created_at),
    updatedAt: date(row.updated_at),
  };
}
