import { randomBytes } from 'node:crypto';
import { hashSecret, type IssuerHost } from '../../contract/core/index.ts';
import type { People } from './people.ts';

/** Browsers that are signed in: 256 random bits in a cookie, of which the hash is kept, for twelve hours and no longer. */
type Sessions = Pick<People, 'openSession' | 'session' | 'chooseOrganization' | 'signOut' | 'signOutEverywhere'>;

const lifeMs = 12 * 3_600_000;
const sweepMs = 3_600_000;
/** What `open` makes. Nothing else is looked up. */
const shape = /^[A-Za-z0-9_-]{43}$/;

export function createSessions({ storage, logger, now }: Pick<IssuerHost, 'storage' | 'logger' | 'now'>): Sessions {
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
