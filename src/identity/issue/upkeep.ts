import type { Logger } from '../../contract/core/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import { lifetimes } from './metadata.ts';

const everyMs = 600_000;
const grantsEveryMs = 86_400_000;
/** A grant not used for longer than its refresh token lives cannot be used any more; a day is for marks that were lost. */
const idleMs = (lifetimes.RefreshToken + 86_400) * 1000;
/** However often a grant is used: after a year the person is asked again. */
const longestMs = 365 * 86_400_000;

/** Removes expired codes, refresh tokens and unanswered requests, and grants that can no longer be used or are a year old. */
export function createHousekeeping(storage: Pick<Storage, 'directory' | 'workspace'>, now: () => Date, logger: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let grantsAt = Number.NEGATIVE_INFINITY;

  async function removeIdleGrants(time: number): Promise<void> {
    for (const { id } of await storage.directory.organizations()) {
      const { grants } = storage.workspace(id);
      for (const grant of await grants.list()) {
        const idle = time - (grant.lastUsedAt ?? grant.createdAt).getTime() > idleMs;
        if (idle || time - grant.createdAt.getTime() > longestMs) await grants.revoke(grant.id);
      }
    }
  }

  async function run(): Promise<void> {
    try {
      const time = now();
      await storage.directory.artifacts.removeExpired(time);
      if (time.getTime() - grantsAt < grantsEveryMs) return;
      await removeIdleGrants(time.getTime());
      grantsAt = time.getTime();
    } catch (error) {
      logger.warn({ error }, 'What has expired of authorizations could not be removed; it is tried again.');
    }
  }

  return {
    start() {
      timer = setInterval(() => {
        running = running.then(run);
      }, everyMs).unref();
    },
    /** Resolves when nothing is under way. */
    async stop() {
      clearInterval(timer);
      await running;
    },
    run,
  };
}

/** How often each instance looks whether another has replaced the signing keys, or whether it is due itself. */
export const refreshMs = 60_000;
/** An issuer that could not look says that it is not well, and no gateway is unwell for longer than what it depends on. */
const retryMs = 1_000;

/** Polls the signing keys while the issuer runs. `look` reads them, and rejects where that is not possible. */
export function createKeyRefresh(look: () => Promise<void>, logger: Logger) {
  let failing = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();

  async function attempt(): Promise<void> {
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing) logger.error({ error }, 'The signing keys could not be refreshed; those in memory stay in use.');
      failing = true;
    }
    arm();
  }

  function arm(): void {
    if (!running) return;
    timer = setTimeout(
      () => {
        looking = attempt();
      },
      failing ? retryMs : refreshMs,
    ).unref();
  }

  return {
    get failing() {
      return failing;
    },
    /** The caller has done the first look. */
    start() {
      running = true;
      failing = false;
      arm();
    },
    /** Resolves when none is under way. */
    async stop() {
      running = false;
      clearTimeout(timer);
      await looking;
    },
  };
}
