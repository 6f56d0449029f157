import { SightlineError, toId, type InvitationId } from '../../../src/contract/core/index.ts';
import type {
  Invitation,
  InvitationRepository,
  InvitedAccount,
  NewInvitation,
  OpenInvitation,
  User,
} from '../../../src/contract/storage/index.ts';
import { date, roleColumn } from '../columns.ts';
import type { EnterScope } from '../database.ts';
import type { RowIn } from '../rows.ts';
import type { Statements } from '../transact.ts';
import { giveMembership } from './members.ts';
import {
  emailColumns,
  insertIdentity,
  liveOrganizations,
  joinedUser,
  newUserRow,
  toUser,
  userColumns,
  type JoinedUser,
  joinedOrganization,
  organizationColumns,
  type JoinedOrganization,
} from './users.ts';
import { OrganizationRepository } from './repository.ts';

/** Locked while an address becomes invited or a member, so that it does not become both. */
const invitationCounter = 'invitation';

export class Invitations extends OrganizationRepository implements InvitationRepository {
  async create(input: NewInvitation): Promise<Invitation> {
    const address = emailColumns(input.email);
    const now = this.now().getTime();
    return this.database.write(
      async (scope) => {
        await scope.refuseErased(input.createdBy);
        await scope.lockCounter(invitationCounter);
        const member = await scope
          .from('members')
          .join('users', 'users.id', 'members.user_id')
          .where('users.email_key', address.email_key)
          .first('users.id');
        if (member !== undefined) throw new SightlineError('conflict', `${address.email} is a member already.`);
        await scope
          .from('invitations')
          .where((ended) => void ended.where('email_key', address.email_key).orWhere('expires_at', '<=', now))
          .delete();
        const row = {
          id: input.id,
          ...address,
          role: input.role,
          hash: input.hash,
          created_by: input.createdBy,
          created_at: now,
          expires_at: input.expiresAt.getTime(),
        };
        await scope.insert('invitations', row);
        return toInvitation({ ...row, organization_id: scope.organizationId });
      },
      { duplicate: new SightlineError('conflict', 'An invitation with this id or token exists already.') },
    );
  }

  list(): Promise<readonly Invitation[]> {
    return this.all(
      (scope) =>
        scope
          .from('invitations')
          .where('expires_at', '>', this.now().getTime())
          .orderBy(['created_at', 'id'].map((column) => ({ column, order: 'desc' }))),
      toInvitation,
    );
  }

  revoke(id: InvitationId): Promise<boolean> {
    const now = this.now().getTime();
    return this.some((scope) => scope.from('invitations').where({ id }).where('expires_at', '>', now).delete());
  }
}

function toInvitation(row: RowIn<'invitations'>): Invitation {
  return {
    id: toId('invt', row.id),
    organizationId: toId('org', row.organization_id),
    email: row.email,
    role: roleColumn.parse(row.role),
    createdBy: row.created_by,
    createdAt: date(row.created_at),
    expiresAt: date(row.expires_at),
  };
}

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

async function invitedUser(
  knex: Statements,
  { email, email_key }: RowIn<'invitations'>,
  account: InvitedAccount,
  now: Date,
) {
  if (account.kind === 'existing') {
    const row = await knex('users').where({ id: account.userId, email_key, enabled: true }).first();
    if (row === undefined) throw new SightlineError('forbidden', 'The invitation is for another account.');
    return toUser(row);
  }
  const row = newUserRow({ email, name: account.name }, now);
  await knex('users').insert(account.kind === 'password' ? { ...row, password_hash: account.hash } : row);
  const user = toUser(row);
  if (account.kind === 'identity') await insertIdentity(knex, user.id, account.issuer, account.subject, now);
  return user;
}

function open(knex: Statements, hash: string, now: Date) {
  return knex('invitations')
    .where({ hash })
    .where('expires_at', '>', now.getTime())
    .whereIn('invitations.organization_id', liveOrganizations(knex));
}

type FoundInvitation = RowIn<'invitations'> & JoinedOrganization & (JoinedUser | { readonly account_id: null });
