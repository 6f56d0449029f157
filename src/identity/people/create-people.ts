import { randomBytes } from 'node:crypto';
import {
  hashSecret,
  type IssuerHost,
  SightlineError,
  type UserId,
  type OrganizationId,
} from '../../contract/core/index.ts';
import type { Actor, Storage, User } from '../../contract/storage/index.ts';
import { createLeakyBuckets } from '../../limits/leaky-buckets.ts';
import { createAdmit } from './admission.ts';
import { createIdentities } from './identity-sign-in.ts';
import { createLeaving } from './leaving.ts';
import { createInvitations } from './invitations.ts';
import { createPasswordLinks, createPasswordSignIns } from './password-sign-in.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import type { People } from './people.ts';
import { personExport } from './person-export.ts';
import { createThrottle } from './throttle.ts';
import { createTrail, type Trail } from './trail.ts';
import type { Role } from '../../contract/issuer/index.ts';

type Host = Pick<IssuerHost, 'storage' | 'logger' | 'now'>;

type Applications = Pick<People, 'applications' | 'countApplications' | 'revokeApplication' | 'disconnectApplications'>;

function createApplications(storage: Storage, trail: Trail): Applications {
  return {
    async countApplications(userId) {
      const found = (await storage.directory.people.memberships(userId)).map(({ organization }) =>
        storage.workspace(organization.id).grants.list(userId),
      );
      return (await Promise.all(found)).flat().length;
    },
    async disconnectApplications(userId) {
      let ended = 0;
      for (const { organization } of await storage.directory.people.memberships(userId)) {
        const { grants } = storage.workspace(organization.id);
        for (const { id } of await grants.list(userId)) {
          if (!(await grants.revoke(id, userId))) continue;
          await trail.record(organization.id, { event: 'grant.revoked', subject: userId, target: id });
          ended += 1;
        }
      }
      return ended;
    },
    applications: (organizationId, userId) => storage.workspace(organizationId).grants.list(userId),
    async revokeApplication(organizationId, id, actor, userId) {
      await trail.during(organizationId, { event: 'grant.revoked', subject: actor.id, target: id }, async () => {
        if (!(await storage.workspace(organizationId).grants.revoke(id, userId))) {
          throw new SightlineError('not_found', 'This application is not connected any more.');
        }
      });
    },
  };
}

export function createPeople(options: Host & { readonly passwords?: Passwords }): People {
  const { storage, logger, now, passwords = createPasswords() } = options;
  const { people } = storage.directory;
  const trail = createTrail({ storage, now });
  const repository = () => storage.directory.buckets;
  const buckets = createLeakyBuckets({ repository, now });
  const throttle = createThrottle({ buckets, repository, logger });
  const signIns = createPasswordSignIns({ storage, passwords, throttle, buckets, trail, logger });
  const { endPasswordLinks, ...links } = createPasswordLinks({ storage, passwords, signIns, trail, now });
  const sessions = createSessions({ storage, logger, now });
  const invitations = createInvitations({ storage, passwords, trail, now });
  const members = createMembers({ storage, trail });
  const applications = createApplications(storage, trail);
  const identities = createIdentities({ storage, invitations, trail, logger });

  return {
    ...sessions,
    ...invitations,
    ...members,
    ...applications,
    admit: createAdmit({ identities, now }),
    exportPerson: (userId, and) => personExport(storage, trail, userId, and),
    memberships: (userId) => people.memberships(userId),
    ...createLeaving({ storage, trail, throttle, endPasswordLinks }),
    ...links,
    signInWithPassword: (attempt) => signIns.signInWithPassword(attempt),
    async signInWithIdentity(identity, invitationToken) {
      const { user } = await identities.account(identity, invitationToken);
      await trail.recordOf(user.id, { event: 'person.signed_in', subject: user.id, target: identity.issuer });
      return user;
    },
    async changePassword(userId, current, next) {
      await signIns.changePassword(userId, current, next);
      await endPasswordLinks(userId);
    },
  };
}

/** Browsers that are signed in: 256 random bits in a cookie, of which the hash is kept, for twelve hours and no longer. */
type Sessions = Pick<People, 'openSession' | 'session' | 'chooseOrganization' | 'signOut' | 'signOutEverywhere'>;

const lifeMs = 12 * 3_600_000;
const sweepMs = 3_600_000;
/** What `open` makes. Nothing else is looked up. */
const shape = /^[A-Za-z0-9_-]{43}$/;

function createSessions({ storage, logger, now }: Pick<IssuerHost, 'storage' | 'logger' | 'now'>): Sessions {
  const { people, sessions } = storage.directory;
  let sweptAt = 0;

  /** With a sign-in now and then, which is what makes sessions. */
  async function sweep(): Promise<void> {
    if (now().getTime() - sweptAt < sweepMs) return;
    sweptAt = now().getTime();
    try {
      await sessions.removeExpired(now());
    } catch (error) {
      logger.warn({ error }, 'ended sessions could not be removed');
    }
  }

  return {
    async openSession(userId) {
      const token = randomBytes(32).toString('base64url');
      const expiresAt = new Date(now().getTime() + lifeMs);
      const [only, ...others] = await people.memberships(userId);
      const chosen = only !== undefined && others.length === 0 ? { organizationId: only.organization.id } : {};
      await sessions.create({ hash: hashSecret(token), userId, expiresAt, ...chosen });
      await sweep();
      return { token, expiresAt };
    },
    session: async (token) => (shape.test(token) ? sessions.find(hashSecret(token)) : undefined),
    chooseOrganization: async (token, organizationId) =>
      shape.test(token) && sessions.choose(hashSecret(token), organizationId),
    async signOut(token) {
      if (shape.test(token)) await sessions.remove(hashSecret(token));
    },
    signOutEverywhere: (userId) => sessions.removeOf(userId),
  };
}

/** Who belongs to an organization, as what. Somebody who can sign in is always left as admin where there was one. */
type Members = Pick<People, 'members' | 'addMember' | 'changeRole' | 'removeMember'>;

function createMembers({ storage, trail }: { readonly storage: Storage; readonly trail: Trail }): Members {
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
      const before = (await list(organizationId)).find(({ user }) => user.id === userId)?.role;
      if (before !== undefined) {
        if (role === undefined || role === before) return { role: before };
        await changeRole(organizationId, userId, role, actor);
        return { role, before };
      }
      const first = role ?? 'member';
      await trail.during(organizationId, { event: 'person.joined', subject: actor.id, target: userId }, () =>
        storage.workspace(organizationId).members.add(userId, first),
      );
      return { role: first };
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
