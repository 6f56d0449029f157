import { SightlineError } from '../../../src/contract/core/index.ts';
import type { UserId } from '../../../src/contract/core/index.ts';
import type { Role } from '../../../src/contract/issuer/index.ts';
import type { AdminGuard, MemberRepository, User } from '../../../src/contract/storage/index.ts';
import type { ScopedDatabase } from '../database.ts';
import { roleColumn } from '../enums.ts';
import type { UserRow } from '../rows.ts';
import type { Scope } from '../scope.ts';
import { endGrants } from './grants.ts';
import { toUser } from './users.ts';

export class Members implements MemberRepository {
  readonly #database: ScopedDatabase;
  readonly #now: () => Date;

  constructor(database: ScopedDatabase, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  add(userId: UserId, role: Role, guard?: AdminGuard): Promise<void> {
    return this.#database.write(
      async (scope) => {
        if (guard && role !== 'admin') await keepAnAdmin(scope, userId);
        await setMembership(scope, userId, role, this.#now());
        if (role !== 'admin') await endInvitationsBy(scope, userId);
      },
      { foreign_key: new SightlineError('not_found', 'There is no such user or organization.') },
    );
  }

  list(): Promise<readonly { readonly user: User; readonly role: Role }[]> {
    return this.#database.read(async (scope) => {
      const rows: readonly (UserRow & { role: string })[] = await scope
        .from('members')
        .join('users', 'users.id', 'members.user_id')
        .orderBy(['users.email_key'])
        .select('users.*', 'members.role');
      return rows.map((row) => ({ user: toUser(row), role: roleColumn.parse(row.role) }));
    });
  }

  remove(userId: UserId, guard?: AdminGuard): Promise<boolean> {
    return this.#database.write(async (scope) => {
      if (guard) await keepAnAdmin(scope, userId);
      return endMembership(scope, userId);
    });
  }
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
async function endInvitationsBy(scope: Scope, userId: UserId): Promise<void> {
  await scope.from('invitations').where({ created_by: userId }).delete();
}

/** Before somebody who is admin stops being one. Changes of one organization's members follow each other. */
async function keepAnAdmin(scope: Scope, userId: UserId): Promise<void> {
  await scope.lockCounter('members');
  const admins = await scope
    .from('members')
    .join('users', 'users.id', 'members.user_id')
    .where({ 'members.role': 'admin', 'users.enabled': true })
    .select('users.id');
  if (admins.length !== 1 || admins[0]?.id !== userId) return;
  throw new SightlineError('conflict', 'Nobody else is an admin.');
}
