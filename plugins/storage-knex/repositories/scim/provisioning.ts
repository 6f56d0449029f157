import {
  newId,
  SightlineError,
  toId,
  type OrganizationId,
  type ScimUserId,
  type UserId,
} from '../../../../src/contract/core/index.ts';
import type {
  ChangedScimUser,
  EndedAccess,
  NewScimUser,
  Provisioned,
  ScimProvisioning,
  ScimRules,
} from '../../../../src/contract/storage/index.ts';
import { boolean, comparable, countOf, shortText } from '../../columns.ts';
import type { EnterScope } from '../../database.ts';
import type { RowIn } from '../../rows.ts';
import type { Scope } from '../../scope.ts';
import type { Statements } from '../../transact.ts';
import { endAccess } from '../leaving.ts';
import { DirectoryRepository } from '../repository.ts';
import { emailColumns, newUserRow, traitsOf } from '../users.ts';
import { findUser, keepSaid, present, settleRoles, toScimUser } from './users.ts';

const mostUsers = 100_000;

type Row = RowIn<'scim_users'>;
type Columns = Pick<
  Row,
  'user_name' | 'user_key' | 'external_id' | 'email_key' | 'attributes' | 'active' | 'updated_at'
>;

export class Provisioning extends DirectoryRepository implements ScimProvisioning {
  provision(
    organizationId: OrganizationId,
    user: NewScimUser | ChangedScimUser,
    rules: ScimRules,
  ): Promise<Provisioned> {
    return this.database.write(
      async (knex, enter) => {
        const now = this.now();
        const columns = columnsOf(user, now);
        const userId =
          'id' in user ? await knownAccount(knex, organizationId, user.id) : await accountOf(knex, user, now);
        // Not a change, but the lock under which changes of one person's memberships follow each other.
        await knex('users').where({ id: userId }).update({ id: userId });
        // Asked before the organization is entered, behind which no other's rows are seen.
        const elsewhere = await knex('members')
          .where({ user_id: userId })
          .whereNot({ organization_id: organizationId })
          .first('organization_id');
        const scope = await enter(organizationId);
        const before = 'id' in user ? await lockUser(scope, user) : undefined;
        if (before === undefined) await insertUser(scope, columns, userId);
        else {
          await scope
            .from('scim_users')
            .where({ id: before.id })
            .update({ ...columns, version: before.version + 1 });
          // An account that another organization has as well is not this one's to rename.
          if (elsewhere === undefined) await rename(knex, userId, user);
        }
        const row = await scope.from('scim_users').where({ user_id: userId }).first();
        if (row === undefined) throw notFound();
        if (user.active) await keepSaid(scope, await traitsOf(knex, userId), 'active');
        const joined = user.active && (await join(scope, userId, now));
        const stops = !user.active && (before === undefined || boolean(before.active));
        return {
          user: toScimUser(row),
          joined,
          ...(stops ? await end(knex, enter, scope, userId) : {}),
          roles: user.active ? await settleRoles(scope, rules, userId) : [],
        };
      },
      {
        duplicate: new SightlineError('conflict', 'There is a user of this name or e-mail address already.'),
        foreign_key: new SightlineError('not_found', 'There is no such organization.'),
      },
    );
  }

  unprovision(organizationId: OrganizationId, id: ScimUserId): Promise<Provisioned | undefined> {
    return this.database.write(async (knex, enter) => {
      const scope = await enter(organizationId);
      const row = await findUser(scope, id);
      if (row === undefined) return undefined;
      const userId = toId('usr', row.user_id);
      await scope.from('scim_group_members').where({ member_id: id }).delete();
      const gone = {
        user_name: '',
        user_key: null,
        external_id: null,
        email_key: null,
        attributes: '{}',
        active: false,
      };
      await scope.from('scim_users').where({ id }).update(gone);
      return { user: toScimUser(row), joined: false, ...(await end(knex, enter, scope, userId)), roles: [] };
    });
  }
}

function columnsOf({ userName, externalId, email, active, attributes }: NewScimUser, now: Date): Columns {
  const user_name = shortText('userName', userName, 200);
  return {
    user_name,
    user_key: comparable('userName', user_name, 400),
    external_id: externalId === undefined ? null : shortText('externalId', externalId, 200),
    email_key: emailColumns(email).email_key,
    attributes,
    active,
    updated_at: now.getTime(),
  };
}

async function lockUser(scope: Scope, { id, version }: ChangedScimUser): Promise<Row> {
  await scope.from('scim_users').where({ id }).update({ id });
  const row = await findUser(scope, id);
  if (row === undefined) throw notFound();
  if (row.version === version) return row;
  throw new SightlineError('unavailable', 'The user was changed by another request. Send this one again.', {
    retryAfterSeconds: 1,
  });
}

async function knownAccount(knex: Statements, organization_id: OrganizationId, id: ScimUserId): Promise<UserId> {
  const row = await knex('scim_users').where({ organization_id, id }).whereNotNull('user_key').first('user_id');
  if (row === undefined) throw notFound();
  return toId('usr', row.user_id);
}

/** The account of the address, made where there is none. */
async function accountOf(knex: Statements, { email, name }: NewScimUser, now: Date): Promise<UserId> {
  const row = newUserRow({ email, name }, now);
  const found = await knex('users').where({ email_key: row.email_key }).first('id');
  if (found !== undefined) return toId('usr', found.id);
  await knex('users').insert(row);
  return toId('usr', row.id);
}

async function insertUser(scope: Scope, columns: Columns, userId: UserId): Promise<void> {
  if ((await countOf(present(scope))) >= mostUsers) {
    throw new SightlineError('invalid_argument', `An organization has at most ${mostUsers} provisioned users.`);
  }
  await scope.from('scim_users').where({ user_id: userId }).whereNull('user_key').delete();
  const made = { id: newId('scu'), user_id: userId, version: 1, created_at: columns.updated_at };
  await scope.insert('scim_users', { ...columns, ...made });
}

async function rename(knex: Statements, userId: UserId, { email, name }: NewScimUser): Promise<void> {
  const shown = shortText("The user's name", name, 200);
  await knex('users')
    .where({ id: userId })
    .update({ ...emailColumns(email), name: shown });
}

/** What was given here by hand stays as it is; what a sign-in brought is the provider's to say in this way from now on. */
async function join(scope: Scope, userId: UserId, now: Date): Promise<boolean> {
  const there = await scope.from('members').where({ user_id: userId }).first('source');
  if (there === undefined) {
    await scope.insert('members', { user_id: userId, role: 'member', source: 'scim', created_at: now.getTime() });
  } else if (there.source === 'provider') {
    await scope.from('members').where({ user_id: userId }).update({ source: 'scim' });
  }
  return there === undefined;
}

async function end(
  knex: Statements,
  enter: EnterScope,
  { organizationId }: Scope,
  userId: UserId,
): Promise<{ readonly ended?: EndedAccess }> {
  const [ended] = (await endAccess(knex, enter, userId, organizationId)) ?? [];
  return ended === undefined ? {} : { ended };
}

function notFound(): SightlineError {
  return new SightlineError('not_found', 'There is no such user.');
}
