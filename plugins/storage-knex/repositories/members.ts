import { SightlineError, toId, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import type { Role } from '../../../src/contract/issuer/index.ts';
import type { AdminGuard, MemberRepository, User } from '../../../src/contract/storage/index.ts';
import { roleColumn } from '../columns.ts';
import type { EnterScope } from '../database.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../transact.ts';
import { endGrants } from './grants.ts';
import { endInvitationsOf, liveOrganizations, toUser } from './users.ts';
import { OrganizationRepository } from './repository.ts';
import { lastSaid } from './scim/users.ts';

export class Members extends OrganizationRepository implements MemberRepository {
  add(userId: UserId, role: Role, guard?: AdminGuard): Promise<void> {
    return this.database.write(
      async (scope) => {
        if (guard && role !== 'admin') {
          await keepAnAdmin(scope, userId);
          await endInvitationsOf(scope, userId);
        }
        if (guard) await keepMembership(scope, userId);
        await setMembership(scope, userId, role, this.now());
        if (role !== 'admin') await endInvitationsBy(scope, userId);
      },
      { foreign_key: new SightlineError('not_found', 'There is no such user or organization.') },
    );
  }

  list(): Promise<readonly { readonly user: User; readonly role: Role }[]> {
    return this.all(
      (scope) =>
        scope
          .from('members')
          .join('users', 'users.id', 'members.user_id')
          .orderBy(['users.email_key'])
          .select('users.*', 'members.role'),
      (row) => ({ user: toUser(row), role: roleColumn.parse(row.role) }),
    );
  }

  remove(userId: UserId, guard?: AdminGuard): Promise<boolean> {
    return this.database.write(async (scope) => {
      if (guard) await keepAnAdmin(scope, userId);
      await endInvitationsOf(scope, userId);
      return endMembership(scope, userId);
    });
  }
}

/** Not a change, but the lock under which nobody is removed before their role is changed, and so made a member again. */
async function keepMembership(scope: Scope, userId: UserId): Promise<void> {
  const found = await scope.from('members').where({ user_id: userId }).update({ user_id: userId });
  if (found === 0) throw new SightlineError('not_found', 'This person is not a member.');
}

/** By an invitation, which lets somebody in and makes nobody less: they may have become an admin since it was made. */
export async function giveMembership(scope: Scope, userId: UserId, role: Role, now: Date): Promise<void> {
  const present = await scope.from('members').where({ user_id: userId }).first('role');
  if (present?.role !== 'admin') await setMembership(scope, userId, role, now);
}

async function setMembership(scope: Scope, userId: UserId, role: Role, now: Date): Promise<void> {
  const row = { user_id: userId, role, source: 'given', created_at: now.getTime() } as const;
  await scope.upsert('members', row, ['organization_id', 'user_id'], ['role', 'source']);
}

/** With what the person granted there; false when there was none. */
export async function endMembership(scope: Scope, userId: UserId): Promise<boolean> {
  await endGrants(scope, { user_id: userId });
  await endInvitationsBy(scope, userId);
  return (await scope.from('members').where({ user_id: userId }).delete()) > 0;
}

/** Who may not invite any more has left no way back in. */
export async function endInvitationsBy(scope: Scope, userId: UserId): Promise<void> {
  await scope.from('invitations').where({ created_by: userId }).delete();
}

/** Before somebody who is admin stops being one. Changes of one organization's members follow each other. */
export async function keepAnAdmin(scope: Scope, userId: UserId): Promise<void> {
  await scope.lockCounter('members');
  const admins = await scope
    .from('members')
    .join('users', 'users.id', 'members.user_id')
    .where({ 'members.role': 'admin', 'users.enabled': true })
    .select('users.id');
  if (admins.length !== 1 || admins[0]?.id !== userId) return;
  throw new SightlineError('conflict', 'Nobody else is an admin.');
}

export interface Provided {
  readonly organizationId: OrganizationId;
  readonly role: Role;
}

interface Synchronization {
  readonly userId: UserId;
  readonly memberships: readonly Provided[];
  readonly guard: 'take-nothing' | undefined;
  readonly now: Date;
}

/** Makes what an identity provider says of a person so; what was given here stays as it is. */
export async function syncMemberships(
  knex: Statements,
  enter: EnterScope,
  { userId, memberships, guard, now }: Synchronization,
): Promise<void> {
  // Not a change, but the lock under which two sign-ins of one person follow each other.
  const found = await knex('users').where({ id: userId }).update({ id: userId });
  if (found === 0) throw new SightlineError('not_found', 'There is no such user.');
  // Who has left by SCIM is not let in again by a sign-in, or by a token that is still good.
  const said = await lastSaid(knex, userId);
  const present = memberships.filter(({ organizationId }) => said.get(organizationId) !== 'left');
  const wanted = new Map<string, Role>(present.map(({ organizationId, role }) => [organizationId, role]));
  const provided = await knex('members')
    .where({ user_id: userId, source: 'provider' })
    .whereIn('organization_id', liveOrganizations(knex))
    .select('organization_id', 'role');
  const isTaken = ({ organization_id, role }: (typeof provided)[number]): boolean =>
    !wanted.has(organization_id) || (role === 'admin' && wanted.get(organization_id) !== 'admin');
  if (guard === 'take-nothing' && provided.some(isTaken)) {
    throw new SightlineError('conflict', 'A membership would be taken away.');
  }
  for (const { organization_id } of provided) {
    if (!wanted.has(organization_id)) await endMembership(await enter(toId('org', organization_id)), userId);
  }
  for (const { organizationId, role } of present) {
    await provide(await enter(organizationId), userId, role, now);
  }
}

async function provide(scope: Scope, userId: UserId, role: Role, now: Date): Promise<void> {
  const row = { user_id: userId, role, source: 'provider', created_at: now.getTime() } as const;
  // An existing row keeps its values. In MySQL, an insert that ignores conflicts would also ignore a missing organization.
  await scope.upsert('members', row, ['organization_id', 'user_id'], ['user_id']);
  await scope.from('members').where({ user_id: userId, source: 'provider' }).update({ role });
}
