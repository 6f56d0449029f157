import { SightlineError, type UserId } from '../../contract/core/index.ts';
import type { Actor, EndedAccess, Storage } from '../../contract/storage/index.ts';
import type { People } from './people.ts';
import type { Throttle } from './throttle.ts';
import type { Trail } from './trail.ts';

export type Leaving = Pick<People, 'setEnabled' | 'deactivatePerson' | 'deletePerson'>;

interface LeavingOptions {
  readonly storage: Storage;
  readonly trail: Trail;
  readonly throttle: Pick<Throttle, 'forget'>;
  readonly endPasswordLinks: (userId: UserId) => Promise<void>;
}

export function createLeaving({ storage, trail, throttle, endPasswordLinks }: LeavingOptions): Leaving {
  const { people } = storage.directory;

  /** Of the person where they were a member, and of each key. */
  async function record(
    ended: readonly EndedAccess[],
    event: 'person.disabled' | 'person.deleted' | 'member.removed',
    { id: subject }: Actor,
    target: UserId,
  ): Promise<void> {
    for (const { organizationId, member, keys } of ended) {
      for (const key of keys) await trail.record(organizationId, { event: 'key.revoked', subject, target: key });
      if (member) await trail.record(organizationId, { event, subject, target });
    }
  }

  return {
    async setEnabled(userId, enabled, actor) {
      if (!(await people.setEnabled(userId, enabled))) throw noSuchAccount();
      if (!enabled) await endPasswordLinks(userId);
      const event = enabled ? 'person.enabled' : 'person.disabled';
      await trail.recordOf(userId, { event, subject: actor.id, target: userId });
    },

    async deactivatePerson({ userId, organizationId, actor }) {
      const ended = await people.endAccess(userId, organizationId);
      if (ended === undefined) throw noSuchAccount();
      if (organizationId === undefined) await endPasswordLinks(userId);
      await record(ended, organizationId === undefined ? 'person.disabled' : 'member.removed', actor, userId);
    },

    async deletePerson({ userId, organizationId, chats, actor }) {
      const erased = await people.erase(userId, { organizationId, chats }).catch(onlyAdmin);
      if (erased === undefined) throw noSuchAccount();
      if (erased.account) {
        await endPasswordLinks(userId);
        await throttle.forget(erased.user.email);
      }
      await record(erased.ended, 'person.deleted', actor, userId);
      return erased;
    },
  };
}

function noSuchAccount(): SightlineError {
  return new SightlineError('not_found', 'There is no such account.');
}

function onlyAdmin(cause: unknown): never {
  if (!(cause instanceof SightlineError) || cause.code !== 'conflict') throw cause;
  throw new SightlineError('conflict', 'This is the only admin of an organization.', {
    hint: 'Make somebody else an admin there first, or delete the organization.',
    cause,
  });
}
