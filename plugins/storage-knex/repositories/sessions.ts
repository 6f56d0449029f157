import { SightlineError, type OrganizationId, type UserId } from '../../../src/contract/core/index.ts';
import type { LiveSession, NewSession, SessionRepository } from '../../../src/contract/storage/index.ts';
import { date } from '../columns.ts';
import type { DbInteger } from '../tables.ts';
import {
  joinedUser,
  type JoinedUser,
  userColumns,
  type JoinedOrganization,
  organizationColumns,
  toMembership,
} from './users.ts';
import { DirectoryRepository } from './repository.ts';

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
          .leftJoin('organizations', 'organizations.id', 'members.organization_id')
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
} & (({ readonly role: string } & JoinedOrganization) | { readonly role: null });

function toSession(row: FoundSession): LiveSession {
  return {
    user: joinedUser(row),
    createdAt: date(row.session_created_at),
    expiresAt: date(row.session_expires_at),
    ...(row.role === null ? {} : { membership: toMembership(row) }),
  };
}
