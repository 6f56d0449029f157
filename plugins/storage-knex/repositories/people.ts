import { foldCase, SightlineError, toId, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import type {
  EndedAccess,
  Erased,
  Erasure,
  InvitedAccount,
  Membership,
  NewIdentity,
  OpenInvitation,
  PeopleRepository,
  User,
  LiveSession,
  NewSession,
  SessionRepository,
} from '../../../src/contract/storage/index.ts';
import { optional, date } from '../columns.ts';
import {
  endSessions,
  findIdentity,
  findIdentityOf,
  identityTaken,
  insertIdentity,
  newUserRow,
  toUser,
  traitsOfIdentity,
  liveOrganizations,
  organizationColumns,
  toMembership,
  joinedUser,
  type JoinedUser,
  userColumns,
  type JoinedOrganization,
} from './users.ts';
import { eraseStatements } from './erasures.ts';
import { endAccess, erase } from './leaving.ts';
import { acceptInvitation, openInvitation } from './invitations.ts';
import { syncMemberships, type Provided } from './members.ts';
import { DirectoryRepository } from './repository.ts';
import { departures } from './scim/users.ts';
import type { DbInteger } from '../tables.ts';
import type { Statements } from '../transact.ts';

/** Somebody waits for the deletion of a person. */
const eraseAtOnceMs = 15_000;

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

  endAccess(userId: UserId, organizationId?: OrganizationId): Promise<readonly EndedAccess[] | undefined> {
    return this.database.write((knex, enter) => endAccess(knex, enter, userId, organizationId));
  }

  async erase(userId: UserId, how: Erasure): Promise<Erased | undefined> {
    const erased = await this.database.write((knex, enter) => erase(knex, enter, userId, how, this.now()), {
      foreign_key: new SightlineError('unavailable', 'The person just did something here.', { retryAfterSeconds: 1 }),
    });
    // The person is gone by now, whatever comes of this: `finishErasures` repeats it.
    const inTime = AbortSignal.timeout(eraseAtOnceMs);
    if (erased !== undefined) await this.#eraseStatements({ user_id: userId }, inTime).catch(() => undefined);
    return erased;
  }

  async finishErasures(before: Date, signal?: AbortSignal): Promise<void> {
    await this.#eraseStatements({}, signal);
    await this.database.write((knex) => knex('erasures').where('created_at', '<=', before.getTime()).delete());
  }

  #eraseStatements(of: { readonly user_id?: UserId }, signal?: AbortSignal): Promise<void> {
    return eraseStatements(this.database, this.parts.vault, of, signal);
  }

  memberships(userId: UserId): Promise<readonly Membership[]> {
    return this.all(
      (knex) =>
        knex('members')
          .join('organizations', 'organizations.id', 'members.organization_id')
          .where('members.user_id', userId)
          .whereNull('organizations.deleted_at')
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

  linkIdentity(
    userId: UserId,
    issuer: string,
    subject: string,
    which: 'first' | 'another' | 'only' = 'another',
  ): Promise<void> {
    return this.database.write(
      async (knex) => {
        // Not a change, but the lock under which two that would be the first, or the only one, follow each other.
        if (which !== 'another') await knex('users').where({ id: userId }).update({ id: userId });
        if (which === 'first' && (await findIdentityOf(knex, userId)) !== undefined) throw identityTaken();
        if (which === 'only') await endIdentities(knex, userId);
        await insertIdentity(knex, userId, issuer, subject, this.now());
      },
      { duplicate: identityTaken(), foreign_key: noSuchUser() },
    );
  }

  hasIdentity(userId: UserId): Promise<boolean> {
    return this.database.read(async (knex) => (await findIdentityOf(knex, userId)) !== undefined);
  }

  leftFrom(person: Omit<NewIdentity, 'name'>): Promise<ReadonlySet<OrganizationId>> {
    return this.database.read(async (knex) => {
      const left = await departures(knex, traitsOfIdentity(person));
      return new Set(left.map((id) => toId('org', id)));
    });
  }

  syncMemberships(userId: UserId, memberships: readonly Provided[], guard?: 'take-nothing'): Promise<void> {
    const sync = { userId, memberships, guard, now: this.now() };
    return this.database.write((knex, enter) => syncMemberships(knex, enter, sync), {
      foreign_key: new SightlineError('not_found', 'There is no such organization.'),
    });
  }
}

/** Where no organization has the person, be it one that can be restored, there is nothing that another would come by. */
async function endIdentities(knex: Statements, userId: UserId): Promise<void> {
  const member = await knex('members').where({ user_id: userId }).first('organization_id');
  if (member !== undefined) throw identityTaken();
  await knex('identities').where({ user_id: userId }).delete();
  await endSessions(knex, userId);
}

function noSuchUser(): SightlineError {
  return new SightlineError('not_found', 'There is no such user.');
}

export class Sessions extends DirectoryRepository implements SessionRepository {
  create({ hash, userId, organizationId, expiresAt }: NewSession): Promise<void> {
    return this.database.write(
      async (knex) => {
        await knex('sessions').insert({
          hash,
          user_id: userId,
          organization_id: organizationId ?? null,
          created_at: this.now().getTime(),
          expires_at: expiresAt.getTime(),
        });
      },
      {
        duplicate: new SightlineError('conflict', 'A session with this hash exists already.'),
        foreign_key: new SightlineError('not_found', 'There is no such user or organization.'),
      },
    );
  }

  find(hash: string): Promise<LiveSession | undefined> {
    return this.one(
      (knex) =>
        knex('sessions')
          .join('users', 'users.id', 'sessions.user_id')
          .leftJoin(
            'members',
            (on) =>
              void on
                .on('members.organization_id', 'sessions.organization_id')
                .andOn('members.user_id', 'sessions.user_id'),
          )
          .leftJoin(
            'organizations',
            (on) => void on.on('organizations.id', 'members.organization_id').andOnNull('organizations.deleted_at'),
          )
          .where('sessions.hash', hash)
          .where('sessions.expires_at', '>', this.now().getTime())
          .where('users.enabled', true)
          .first('members.role', {
            session_created_at: 'sessions.created_at',
            session_expires_at: 'sessions.expires_at',
            ...userColumns,
            ...organizationColumns,
          }),
      toSession,
    );
  }

  choose(hash: string, organizationId: OrganizationId): Promise<boolean> {
    return this.some((knex) => {
      const membership = knex('members')
        .where('members.organization_id', organizationId)
        .where('members.user_id', knex.ref('sessions.user_id'))
        .whereIn('members.organization_id', liveOrganizations(knex))
        .select('members.user_id');
      return knex('sessions')
        .where({ hash })
        .where('expires_at', '>', this.now().getTime())
        .whereExists(membership)
        .update({ organization_id: organizationId });
    });
  }

  async remove(hash: string): Promise<void> {
    await this.database.write((knex) => knex('sessions').where({ hash }).delete());
  }

  async removeOf(userId: UserId): Promise<void> {
    await this.database.write((knex) => knex('sessions').where({ user_id: userId }).delete());
  }

  removeExpired(before: Date): Promise<number> {
    return this.database.write((knex) => knex('sessions').where('expires_at', '<=', before.getTime()).delete());
  }
}

type FoundSession = JoinedUser & {
  readonly session_created_at: DbInteger;
  readonly session_expires_at: DbInteger;
} & (
    | ({ readonly role: string } & JoinedOrganization)
    // Of no membership, or one of a deleted organization.
    | { readonly role: string | null; readonly organization_id: null }
  );

function toSession(row: FoundSession): LiveSession {
  return {
    user: joinedUser(row),
    createdAt: date(row.session_created_at),
    expiresAt: date(row.session_expires_at),
    ...(row.organization_id === null ? {} : { membership: toMembership(row) }),
  };
}
