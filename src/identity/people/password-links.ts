import {
  generateSecret,
  hashSecret,
  isId,
  SightlineError,
  type IssuerHost,
  type UserId,
} from '../../contract/core/index.ts';
import type { User } from '../../contract/storage/index.ts';
import { checkPassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';
import type { PasswordSignIns } from './password-sign-in.ts';
import type { People } from './people.ts';

/** Links by which a person sets a password: for an hour, once, and only the newest of an account. */
interface PasswordLinks extends Pick<People, 'createPasswordLink' | 'passwordLink' | 'setPasswordByLink'> {
  readonly endPasswordLinks: (userId: UserId) => Promise<void>;
}

const model = 'PasswordLink';
const lifeMs = 3_600_000;
const prefix = 'pwd';

interface PasswordLinksOptions extends Pick<IssuerHost, 'storage' | 'now'> {
  readonly passwords: Passwords;
  readonly signIns: Pick<PasswordSignIns, 'keep'>;
}

export function createPasswordLinks({ storage, passwords, signIns, now }: PasswordLinksOptions): PasswordLinks {
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

    async createPasswordLink(userId) {
      const user = await directory.findUser(userId);
      if (user === undefined) throw new SightlineError('not_found', 'There is no such account.');
      if (!user.enabled) throw new SightlineError('conflict', `The account ${user.email} is disabled.`);
      const token = generateSecret(prefix);
      const expiresAt = new Date(now().getTime() + lifeMs);
      await endAll(userId);
      await artifacts.upsert({ model, id: hashSecret(token), payload: userId, grantId: family(userId), expiresAt });
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
