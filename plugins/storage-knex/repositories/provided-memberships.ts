import { SightlineError, toId } from '../../../src/contract/core/index.ts';
import type { OrganizationId, UserId } from '../../../src/contract/core/index.ts';
import type { Role } from '../../../src/contract/issuer/index.ts';
import type { EnterScope } from '../database.ts';
import type { MemberRow, UserRow } from '../rows.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../statements.ts';
import { endMembership } from './members.ts';

/** Makes what an identity provider says of a person so; what was given here stays as it is. */
export async function syncMemberships(
  knex: Statements,
  enter: EnterScope,
  userId: UserId,
  memberships: readonly { readonly organizationId: OrganizationId; readonly role: Role }[],
  now: Date,
): Promise<void> {
  // Not a change, but the lock under which two sign-ins of one person follow each other.
  const found = await knex<UserRow>('users').where({ id: userId }).update({ id: userId });
  if (found === 0) throw new SightlineError('not_found', 'There is no such user.');
  const wanted = new Set<string>(memberships.map(({ organizationId }) => organizationId));
  const provided = await knex<MemberRow>('members')
    .where({ user_id: userId, source: 'provider' })
    .select('organization_id');
  for (const { organization_id } of provided) {
    if (!wanted.has(organization_id)) await endMembership(await enter(toId('org', organization_id)), userId);
  }
  for (const { organizationId, role } of memberships) {
    await provide(await enter(organizationId), userId, role, now);
  }
}

async function provide(scope: Scope, userId: UserId, role: Role, now: Date): Promise<void> {
  const row = { user_id: userId, role, source: 'provider', created_at: now.getTime() } as const;
  // A row that is there gets the key it has. An insert that ignores conflicts would in MySQL ignore a missing organization too.
  await scope.upsert('members', row, ['organization_id', 'user_id'], ['user_id']);
  await scope.from('members').where({ user_id: userId, source: 'provider' }).update({ role });
}
