import { SightlineError } from '../contract/index.ts';
import type { Actor, OrganizationId, Role, Storage, User, UserId } from '../contract/index.ts';
import type { People } from './people.ts';
import type { Trail } from './trail.ts';

interface Member {
  readonly user: User;
  readonly role: Role;
}

/** Who belongs to an organization, as what. Somebody who can sign in is always left as admin where there was one. */
export type Members = Pick<People, 'members' | 'addMember' | 'changeRole' | 'removeMember'>;

export function createMembers({ storage, trail }: { readonly storage: Storage; readonly trail: Trail }): Members {
  const list = (organizationId: OrganizationId) => storage.workspace(organizationId).members.list();

  async function find(organizationId: OrganizationId, userId: UserId): Promise<Member> {
    const member = (await list(organizationId)).find(({ user }) => user.id === userId);
    if (member !== undefined) return member;
    throw new SightlineError('not_found', 'This person is not a member.');
  }

  /**
   * Takes the admin's role away from somebody. Looked at before, so that usually nothing has to be undone, and after: of two
   * admins who take it from each other at once, on whatever instances, at least one finds that nobody is left.
   */
  async function keepingAnAdmin(
    organizationId: OrganizationId,
    { user, role }: Member,
    change: () => Promise<void>,
  ): Promise<void> {
    if (role !== 'admin') return change();
    if (!hasAdmin((await list(organizationId)).filter((other) => other.user.id !== user.id))) throw lastAdmin(user);
    await change();
    if (hasAdmin(await list(organizationId))) return;
    await storage.workspace(organizationId).members.add(user.id, 'admin');
    throw lastAdmin(user);
  }

  async function changeRole(organizationId: OrganizationId, userId: UserId, role: Role, actor: Actor): Promise<void> {
    const member = await find(organizationId, userId);
    const { members } = storage.workspace(organizationId);
    const change = () => members.add(userId, role);
    await trail.during(organizationId, { event: 'member.role_changed', subject: actor.id, target: userId }, () =>
      role === 'admin' ? change() : keepingAnAdmin(organizationId, member, change),
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
      const member = await find(organizationId, userId);
      await trail.during(organizationId, { event: 'member.removed', subject: actor.id, target: userId }, () =>
        keepingAnAdmin(organizationId, member, async () => {
          await storage.workspace(organizationId).members.remove(userId);
        }),
      );
    },
  };
}

function hasAdmin(members: readonly Member[]): boolean {
  return members.some(({ user, role }) => user.enabled && role === 'admin');
}

function lastAdmin({ email }: User): SightlineError {
  return new SightlineError('conflict', `${email} is the only admin. Make somebody else an admin first.`);
}
