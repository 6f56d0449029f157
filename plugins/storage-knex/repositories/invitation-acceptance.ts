import { SightlineError, toId } from '../../../src/contract/core/index.ts';
import type { InvitedAccount, OpenInvitation, User } from '../../../src/contract/storage/index.ts';
import type { EnterScope } from '../database.ts';
import { roleColumn } from '../enums.ts';
import type { InvitationRow, UserRow } from '../rows.ts';
import type { Statements } from '../statements.ts';
import { insertIdentity } from './identities.ts';
import { invitationCounter, toInvitation } from './invitations.ts';
import { giveMembership } from './members.ts';
import { joinedOrganization, type JoinedOrganization, organizationColumns } from './organizations.ts';
import { joinedUser, type JoinedUser, newUserRow, toUser, userColumns } from './users.ts';

export async function openInvitation(knex: Statements, hash: string, now: Date): Promise<OpenInvitation | undefined> {
  const row: FoundInvitation | undefined = await open(knex, hash, now)
    .join('organizations', 'organizations.id', 'invitations.organization_id')
    .leftJoin('users', 'users.email_key', 'invitations.email_key')
    .first('invitations.*', { ...organizationColumns, ...userColumns });
  if (row === undefined) return undefined;
  return {
    ...toInvitation(row),
    organization: joinedOrganization(row),
    ...(row.account_id === null ? {} : { user: joinedUser(row) }),
  };
}

/** Within a transaction. Undefined when the invitation is not open, or another caller was first. */
export async function acceptInvitation(
  knex: Statements,
  enter: EnterScope,
  hash: string,
  account: InvitedAccount,
  now: Date,
): Promise<User | undefined> {
  const invitation = await open(knex, hash, now).first();
  if (invitation === undefined) return undefined;
  const scope = await enter(toId('org', invitation.organization_id));
  await scope.lockCounter(invitationCounter);
  const taken = await scope.from('invitations').where({ id: invitation.id, hash }).delete();
  if (taken === 0) return undefined;
  const user = await invitedUser(knex, invitation, account, now);
  await giveMembership(scope, user.id, roleColumn.parse(invitation.role), now);
  return user;
}

async function invitedUser(knex: Statements, { email, email_key }: InvitationRow, account: InvitedAccount, now: Date) {
  if (account.kind === 'existing') {
    const row = await knex<UserRow>('users').where({ id: account.userId, email_key, enabled: true }).first();
    if (row === undefined) throw new SightlineError('forbidden', 'The invitation is for another account.');
    return toUser(row);
  }
  const row = newUserRow({ email, name: account.name }, now);
  await knex<UserRow>('users').insert(account.kind === 'password' ? { ...row, password_hash: account.hash } : row);
  const user = toUser(row);
  if (account.kind === 'identity') await insertIdentity(knex, user.id, account.issuer, account.subject, now);
  return user;
}

function open(knex: Statements, hash: string, now: Date) {
  return knex<InvitationRow>('invitations').where({ hash }).where('expires_at', '>', now.getTime());
}

type FoundInvitation = InvitationRow & JoinedOrganization & (JoinedUser | { readonly account_id: null });
