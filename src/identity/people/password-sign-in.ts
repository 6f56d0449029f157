import {
  SightlineError,
  type IssuerHost,
  generateSecret,
  hashSecret,
  isId,
  type UserId,
} from '../../contract/core/index.ts';
import type { User } from '../../contract/storage/index.ts';
import type { BucketKind, LeakyBuckets } from '../../limits/leaky-buckets.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import type { People } from './people.ts';
import { tooMany, type Throttle } from './throttle.ts';
import type { Trail } from './trail.ts';

interface PasswordSignIns extends Pick<People, 'signInWithPassword' | 'changePassword'> {
  /** Stores a new password hash. The caller has authenticated the person and checked the password rules. */
  keep(user: User, hash: string): Promise<void>;
}

interface PasswordSignInsOptions extends Pick<IssuerHost, 'storage' | 'logger'> {
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  readonly buckets: LeakyBuckets;
  readonly trail: Trail;
}

/** What the storage keeps of an address. */
const longestEmail = 320;
/** At the current password, by somebody who has come by a signed-in browser. */
const changes: BucketKind = { prefix: 'password-change ', size: 10, leakMs: 900_000 };

export function createPasswordSignIns(options: PasswordSignInsOptions): PasswordSignIns {
  const { storage, passwords, throttle, buckets, trail, logger } = options;
  const { directory } = storage;

  async function keep(user: User, hash: string): Promise<void> {
    await directory.people.setPassword(user.id, hash);
    await changed(user);
  }

  async function changed(user: User): Promise<void> {
    await throttle.forget(user.email);
    await trail.recordOf(user.id, { event: 'password.changed', subject: user.id, target: user.id });
  }

  /** The same password at today's cost, which ends sessions as any other does, once. A sign-in does not fail for it. */
  async function renew(user: User, password: string, hash: string): Promise<void> {
    try {
      await directory.people.replacePassword(user.id, hash, await passwords.hash(password, user.id));
    } catch (error) {
      logger.warn({ error, userId: user.id }, 'a password could not be hashed anew');
    }
  }

  /** Whether the account has this password and is enabled, now that computing and waiting for a turn took their time. */
  async function isStill({ email }: User, hash: string): Promise<boolean> {
    const kept = await directory.people.credentials(email);
    return kept?.hash === hash && kept.user.enabled;
  }

  return {
    keep,

    async signInWithPassword({ email, password, address }) {
      const attempt = await throttle.begin(email, address);
      let account;
      let verdict;
      let passes;
      try {
        account = email.length > longestEmail ? undefined : await directory.people.credentials(email);
        verdict = await passwords.verify(password, account?.hash, attempt.place);
        passes = verdict.right && account?.hash !== undefined && (await isStill(account.user, account.hash));
      } catch (error) {
        attempt.abandoned();
        throw error;
      }
      if (account?.hash === undefined || !passes) {
        // The account only where there is one: what was typed as the address is now and then the password.
        logger.info({ userId: account?.user.id, address }, 'sign-in with a password refused');
        await attempt.failed();
        throw new SightlineError('forbidden', 'The e-mail address or the password is wrong.');
      }
      await attempt.succeeded();
      const { user, hash } = account;
      if (verdict.outdated) await renew(user, password, hash);
      await trail.recordOf(user.id, { event: 'person.signed_in', subject: user.id, target: 'password' });
      return user;
    },

    async changePassword(userId, current, next) {
      const user = await directory.findUser(userId);
      if (user === undefined) throw new SightlineError('not_found', 'There is no such account.');
      checkPassword(next, user.email);
      const tries = await buckets.look([[changes, userId]]);
      for (const bucket of tries) if (bucket.wait() > 0) throw tooMany(bucket.wait());
      const end = buckets.hold(tries);
      let hash;
      let verdict;
      try {
        hash = (await directory.people.credentials(user.email))?.hash;
        verdict = await passwords.verify(current, hash, { lane: 'known', party: userId });
        if (!verdict.right) await buckets.add(tries);
      } finally {
        end();
      }
      if (!verdict.right || hash === undefined || !user.enabled) throw wrongCurrent();
      for (const bucket of tries) await buckets.empty(bucket);
      // An operator's link may have set another meanwhile: who knows the one before must not have the last word.
      if (!(await directory.people.replacePassword(userId, hash, await passwords.hash(next, userId))))
        throw wrongCurrent();
      await changed(user);
    },
  };
}

function wrongCurrent(): SightlineError {
  return new SightlineError('forbidden', 'The current password is wrong.');
}

/** Links by which a person sets a password: for an hour, once, and only the newest of an account. */
interface PasswordLinks extends Pick<People, 'createPasswordLink' | 'passwordLink' | 'setPasswordByLink'> {
  readonly endPasswordLinks: (userId: UserId) => Promise<void>;
}

const model = 'PasswordLink';
const lifeMs = 3_600_000;
const prefix = 'pwd';

interface PasswordLinksOptions extends Pick<IssuerHost, 'storage' | 'now'> {
  readonly trail: Trail;
  readonly passwords: Passwords;
  readonly signIns: Pick<PasswordSignIns, 'keep'>;
}

export function createPasswordLinks({ storage, passwords, signIns, trail, now }: PasswordLinksOptions): PasswordLinks {
  const { directory } = storage;
  const { artifacts } = directory;
  /** All of a person's go together. */
  const family = (userId: UserId): string => `password:${userId}`;
  const endAll = (userId: UserId): Promise<void> => artifacts.revokeGrant(family(userId));

  async function find(token: string): Promise<User | undefined> {
    if (!token.startsWith(`${prefix}_`) || token.length >= 100) return undefined;
    const link = await artifacts.find(model, hashSecret(token));
    if (link === undefined || link.consumedAt !== undefined || !isId('usr', link.payload)) return undefined;
    const user = await directory.findUser(link.payload);
    return user?.enabled === true ? user : undefined;
  }

  return {
    passwordLink: find,
    endPasswordLinks: endAll,

    async createPasswordLink(userId, actor) {
      const user = await directory.findUser(userId);
      if (user === undefined) throw new SightlineError('not_found', 'There is no such account.');
      if (!user.enabled) throw new SightlineError('conflict', `The account ${user.email} is disabled.`);
      const token = generateSecret(prefix);
      const expiresAt = new Date(now().getTime() + lifeMs);
      await endAll(userId);
      await artifacts.upsert({ model, id: hashSecret(token), payload: userId, grantId: family(userId), expiresAt });
      await trail.recordOf(userId, { event: 'password.link_created', subject: actor.id, target: userId });
      return { token, expiresAt };
    },

    async setPasswordByLink(token, next) {
      const user = await find(token);
      if (user === undefined) throw ended();
      checkPassword(next, user.email);
      const hash = await passwords.hash(next, user.id);
      if (!(await artifacts.consume(model, hashSecret(token), now()))) throw ended();
      await signIns.keep(user, hash);
      await endAll(user.id);
      return user;
    },
  };
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This link does not work any more. Ask your operator for another one.');
}
