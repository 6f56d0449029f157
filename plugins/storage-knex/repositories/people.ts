import { foldCase, SightlineError, toId, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import type { Role } from '../../../src/contract/issuer/index.ts';
import type {
  InvitedAccount,
  Membership,
  NewIdentity,
  OpenInvitation,
  PeopleRepository,
  User,
} from '../../../src/contract/storage/index.ts';
import { optional } from '../columns.ts';
import type { Statements } from '../transact.ts';
import {
  findIdentity,
  findIdentityOf,
  identityTaken,
  insertIdentity,
  newUserRow,
  toUser,
  organizationColumns,
  toMembership,
} from './users.ts';
import { acceptInvitation, openInvitation } from './invitations.ts';
import { syncMemberships } from './members.ts';
import { DirectoryRepository } from './repository.ts';

export class People extends DirectoryRepository implements PeopleRepository {
  credentials(email: string): Promise<{ readonly user: User; readonly hash?: string } | undefined> {
    const email_key = foldCase(email.trim());
    return this.one(
      (knex) => knex('users').where({ email_key }).first(),
      (row) => ({ user: toUser(row), ...optional('hash', row.password_hash, String) }),
    );
  }

  setPassword(userId: UserId, hash: string): Promise<void> {
    return this.database.write(async (knex) => {
      const found = await knex('users').where({ id: userId }).update({ password_hash: hash });
      if (found === 0) throw noSuchUser();
      await endSessions(knex, userId);
    });
  }

  replacePassword(userId: UserId, before: string, hash: string): Promise<boolean> {
    return this.database.write(async (knex) => {
      const user = knex('users').where({ id: userId, password_hash: before });
      if ((await user.update({ password_hash: hash })) === 0) return false;
      await endSessions(knex, userId);
      return true;
    });
  }

  setEnabled(userId: UserId, enabled: boolean): Promise<boolean> {
    return this.database.write(async (knex) => {
      const found = await knex('users').where({ id: userId }).update({ enabled });
      if (!enabled) await endSessions(knex, userId);
      return found > 0;
    });
  }

  memberships(userId: UserId): Promise<readonly Membership[]> {
    return this.all(
      (knex) =>
        knex('members')
          .join('organizations', 'organizations.id', 'members.organization_id')
          .where('members.user_id', userId)
          .orderBy('organizations.name_key')
          .select('members.role', organizationColumns),
      toMembership,
    );
  }

  invitation(hash: string): Promise<OpenInvitation | undefined> {
    return this.database.read((knex) => openInvitation(knex, hash, this.now()));
  }

  acceptInvitation(hash: string, account: InvitedAccount): Promise<User | undefined> {
    return this.database.write((knex, enter) => acceptInvitation(knex, enter, hash, account, this.now()), {
      duplicate: identityTaken(),
    });
  }

  identity(issuer: string, subject: string): Promise<User | undefined> {
    return this.one((knex) => findIdentity(knex, issuer, subject), toUser);
  }

  async createWithIdentity({ email, name, issuer, subject }: NewIdentity): Promise<User> {
    const now = this.now();
    const row = newUserRow({ email, name }, now);
    return this.database.write(
      async (knex) => {
        await knex('users').insert(row);
        await insertIdentity(knex, toId('usr', row.id), issuer, subject, now);
        return toUser(row);
      },
      { duplicate: identityTaken() },
    );
  }

  linkIdentity(userId: UserId, issuer: string, subject: string, which: 'first' | 'another' = 'another'): Promise<void> {
    return this.database.write(
      async (knex) => {
        if (which === 'first') {
          // Not a change, but the lock under which two that would be the first follow each other.
          await knex('users').where({ id: userId }).update({ id: userId });
          if ((await findIdentityOf(knex, userId)) !== undefined) throw identityTaken();
        }
        await insertIdentity(knex, userId, issuer, subject, this.now());
      },
      { duplicate: identityTaken(), foreign_key: noSuchUser() },
    );
  }

  hasIdentity(userId: UserId): Promise<boolean> {
    return this.database.read(async (knex) => (await findIdentityOf(knex, userId)) !== undefined);
  }

  syncMemberships(
    userId: UserId,
    memberships: readonly { readonly organizationId: OrganizationId; readonly role: Role }[],
  ): Promise<void> {
    return this.database.write((knex, enter) => syncMemberships(knex, enter, userId, memberships, this.now()), {
      foreign_key: new SightlineError('not_found', 'There is no such organization.'),
    });
  }
}

async function endSessions(knex: Statements, userId: UserId): Promise<void> {
  await knex('sessions').where({ user_id: userId }).delete();
}

function noSuchUser(): SightlineError {
  return new SightlineError('not_found', 'There is no such user.');
}
