import { foldCase, SightlineError, newId, toId, type UserId } from '../../../src/contract/core/index.ts';
import type { User, Membership, NewIdentity, Organization } from '../../../src/contract/storage/index.ts';
import { boolean, date, sha256, comparable, shortText, roleColumn } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import type { Scope } from '../scope.ts';
import type { Statements } from '../transact.ts';

type Shown = Pick<RowIn<'users'>, 'id' | 'email' | 'name' | 'enabled' | 'created_at'>;

export function toUser(row: Shown): User {
  return {
    id: toId('usr', row.id),
    email: row.email,
    name: row.name,
    enabled: boolean(row.enabled),
    createdAt: date(row.created_at),
  };
}

/** Selected beside another table's columns, and read by `joinedUser`. */
export const userColumns = {
  account_id: 'users.id',
  account_email: 'users.email',
  account_name: 'users.name',
  account_enabled: 'users.enabled',
  account_created_at: 'users.created_at',
} as const;

export type JoinedUser = { readonly [Column in keyof Shown as `account_${Column}`]: Shown[Column] };

export function joinedUser(row: JoinedUser): User {
  return toUser({
    id: row.account_id,
    email: row.account_email,
    name: row.account_name,
    enabled: row.account_enabled,
    created_at: row.account_created_at,
  });
}

/** A new, enabled account. Throws `invalid_argument` for an address or name that cannot be one. */
export function newUserRow(input: { readonly email: string; readonly name: string }, now: Date): RowIn<'users'> {
  return {
    id: newId('usr', now.getTime()),
    ...emailColumns(input.email),
    name: shortText("The user's name", input.name.trim(), 200),
    enabled: true,
    created_at: now.getTime(),
    password_hash: null,
  };
}

/** The address as it is shown and as it is compared. Throws `invalid_argument` for what is not written like one. */
export function emailColumns(text: string): Pick<RowIn<'users'>, 'email' | 'email_key'> {
  const email = shortText('The e-mail address', text.trim(), 320);
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new SightlineError('invalid_argument', 'The e-mail address is not written like one.');
  }
  return { email, email_key: comparable('The e-mail address', email, 640) };
}

export async function endSessions(knex: Statements, userId: UserId): Promise<void> {
  await knex('sessions').where({ user_id: userId }).delete();
}

/** A member's own from before they became one, by which who is removed would come back, and who is made less be an admin. */
export async function endInvitationsOf(scope: Scope, userId: string): Promise<void> {
  const member = await scope
    .from('members')
    .join('users', 'users.id', 'members.user_id')
    .where({ 'members.user_id': userId })
    .first('users.email_key');
  if (member !== undefined) await scope.from('invitations').where({ email_key: member.email_key }).delete();
}

export function findIdentity(knex: Statements, issuer: string, subject: string): Promise<RowIn<'users'> | undefined> {
  return knex('users')
    .join('identities', 'identities.user_id', 'users.id')
    .where('identities.hash', identityHash(issuer, subject))
    .first('users.*');
}

/** One of an account's, if it has any. */
export function findIdentityOf(
  knex: Statements,
  userId: UserId,
): Promise<Pick<RowIn<'identities'>, 'hash'> | undefined> {
  return knex('identities').where({ user_id: userId }).first('hash');
}

export async function insertIdentity(
  knex: Statements,
  userId: UserId,
  issuer: string,
  subject: string,
  now: Date,
): Promise<void> {
  await knex('identities').insert({
    hash: identityHash(issuer, subject),
    issuer: shortText('The issuer', issuer, 2_000),
    subject: shortText('The subject', subject, 2_000),
    user_id: userId,
    created_at: now.getTime(),
  });
}

export function identityTaken(): SightlineError {
  return new SightlineError('conflict', 'The e-mail address or the identity belongs to an account already.');
}

/** By which a person is known once the account is gone: hashes of the address without case, and of each identity. */
export async function traitsOf(knex: Statements, userId: UserId): Promise<readonly string[]> {
  const user = await knex('users').where({ id: userId }).first('email_key');
  const identities = await knex('identities').where({ user_id: userId }).pluck('hash');
  return user === undefined ? identities : [sha256(user.email_key), ...identities];
}

export function traitsOfIdentity({ email, issuer, subject }: Omit<NewIdentity, 'name'>): readonly string[] {
  return [sha256(foldCase(email.trim())), identityHash(issuer, subject)];
}

/** Of both exactly as they were given: case matters in either. */
function identityHash(issuer: string, subject: string): string {
  return sha256(JSON.stringify([issuer, subject]));
}

/** In a look-up's condition: the table's organization was not deleted. */
export function ofLiveOrganization(table: string): string {
  return `exists (select 1 from organizations o where o.id = ${table}.organization_id and o.deleted_at is null)`;
}

/** Ids of organizations that were not deleted, for a condition. */
export function liveOrganizations(knex: Statements) {
  return knex('organizations').whereNull('deleted_at').select('id');
}

type ShownOrganization = Pick<RowIn<'organizations'>, 'id' | 'name' | 'created_at'>;

export function toOrganization(row: ShownOrganization): Organization {
  return { id: toId('org', row.id), name: row.name, createdAt: date(row.created_at) };
}

/** Selected beside another table's columns, and read by `joinedOrganization`. */
export const organizationColumns = {
  organization_id: 'organizations.id',
  organization_name: 'organizations.name',
  organization_created_at: 'organizations.created_at',
} as const;

export type JoinedOrganization = {
  readonly [Column in keyof ShownOrganization as `organization_${Column}`]: ShownOrganization[Column];
};

export function joinedOrganization(row: JoinedOrganization): Organization {
  return toOrganization({
    id: row.organization_id,
    name: row.organization_name,
    created_at: row.organization_created_at,
  });
}

export function toMembership(row: JoinedOrganization & { readonly role: string }): Membership {
  return { organization: joinedOrganization(row), role: roleColumn.parse(row.role) };
}
