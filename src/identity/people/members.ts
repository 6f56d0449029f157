import { SightlineError, type OrganizationId, type UserId } from '../../contract/core/index.ts';
import type { Role } from '../../contract/issuer/index.ts';
import type { Actor, Storage, User } from '../../contract/storage/index.ts';
import type { People } from './people.ts';
import type { Trail } from './trail.ts';

/** Who belongs to an organization, as what. Somebody who can sign in is always left as admin where there was one. */
type Members = Pick<People, 'members' | 'addMember' | 'changeRole' | 'removeMember'>;

export function createMembers({ storage, trail }: { readonly storage: Storage; readonly trail: Trail }): Members {
  const list = (organizationId: OrganizationId) => storage.workspace(organizationId).members.list();

  async function find(organizationId: OrganizationId, userId: UserId): Promise<User> {
    const member = (await list(organizationId)).find(({ user }) => user.id === userId);
    if (member !== undefined) return member.user;
    throw new SightlineError('not_found', 'This person is not a member.');
  }

  async function keepingAnAdmin<Result>({ email }: User, change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } catch (cause) {
      if (!(cause instanceof SightlineError) || cause.code !== 'conflict') throw cause;
      throw new SightlineError('conflict', `${email} is the only admin. Make somebody else an admin first.`, { cause });
    }
  }

  async function changeRole(organizationId: OrganizationId, userId: UserId, role: Role, actor: Actor): Promise<void> {
    const user = await find(organizationId, userId);
    const { members } = storage.workspace(organizationId);
    await trail.during(organizationId, { event: 'member.role_changed', subject: actor.id, target: userId }, () =>
      keepingAnAdmin(user, members.add(userId, role, 'keep-an-admin')),
    );
  }

  return {
    members: list,
    changeRole,

    async addMember(organizationId, userId, role, actor) {
      const present = (await list(organizationId)).some(({ user }) => user.id === userId);
      if (present) return changeRole(organizationId, userId, role, actor);
      await trail.during(organizationId, { event: 'person.joined', subject: actor.id, target: userId }, () =>
        storage.workspace(organizationId).members.add(userId, role),
      );
    },

    async removeMember(organizationId, userId, actor) {
      const user = await find(organizationId, userId);
      const { members } = storage.workspace(organizationId);
      await trail.during(organizationId, { event: 'member.removed', subject: actor.id, target: userId }, async () => {
        await keepingAnAdmin(user, members.remove(userId, 'keep-an-admin'));
      });
    },
  };
}
