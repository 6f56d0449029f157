import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { believedTime, type Logger, type OrganizationId } from '../contract/core/index.ts';
import {
  instanceId,
  type DeletedOrganization,
  type RetentionRepository,
  type Storage,
} from '../contract/storage/index.ts';

const askEveryMs = 600_000;
const turnMs = 3_600_000;
const turnName = 'retention';
const dayMs = 86_400_000;
/** Between two batches, so that other writers get the storage. */
const pauseMs = 50;

/** Days after a record, or after the last change of a finished chat or closed incident; undefined: for ever. */
export type Keep = Readonly<Record<'auditDays' | 'chatDays' | 'incidentDays', number | undefined>>;

export interface RetentionOptions extends PurgeOptions {
  /** Asked before each run. */
  readonly keep: () => Keep;
  /** Time of an organization's newest telemetry, which clocks of senders gave; undefined where it is not known. */
  readonly newest: (id: OrganizationId, signal: AbortSignal) => Promise<Date | undefined>;
}

export interface Retention {
  start(): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/**
 * Removes what is older than configured: once an hour, by whichever gateway of the storage asks first. A clock more than a day
 * ahead of the last turn, which all gateways know, and of the newest telemetry is not believed: then time goes on from these by
 * what this process measures. Telemetry that comes in after a long stop so confirms the clock.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { storage, keep, now, logger } = options;
  const purge = new Purge(options);
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let doubting = false;
  /** The last turn that this gateway knows of, and when it learned of it by the monotonic clock. */
  let last: { readonly turn: number; readonly at: number } | undefined;

  async function trustedTime(): Promise<{ readonly ms: number; readonly doubted: boolean }> {
    const clock = now().getTime();
    const turn = (await storage.directory.lastTurn(turnName))?.getTime();
    if (turn === undefined) return believedTime(clock, -Infinity);
    if (last?.turn !== turn) last = { turn, at: performance.now() };
    let time = believedTime(clock, Math.floor(turn + performance.now() - last.at));
    if (!time.doubted) return time;
    for (const { id } of await storage.directory.organizations()) {
      const newest = await options.newest(id, stopping.signal).catch(() => undefined);
      if (newest !== undefined) time = believedTime(clock, Math.max(time.ms, newest.getTime()));
      if (!time.doubted || stopping.signal.aborted) break;
    }
    return time;
  }

  async function clear(
    retention: RetentionRepository,
    remove: Exclude<keyof RetentionRepository, 'removeAll'>,
    time: number,
    days: number | undefined,
  ): Promise<number> {
    if (days === undefined) return 0;
    const before = new Date(time - days * dayMs);
    let removed = 0;
    while (!stopping.signal.aborted) {
      const batch = await retention[remove](before);
      if (batch === 0) break;
      removed += batch;
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    return removed;
  }

  /** Which keeps nothing else from being removed. */
  async function finishErasures(): Promise<void> {
    try {
      await storage.directory.people.finishErasures(new Date(now().getTime() - turnMs), stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return;
      logger.error({ error }, 'statements of deleted people are still in the audit; erasing them is tried again');
    }
  }

  async function run(): Promise<void> {
    try {
      const { directory } = storage;
      const { auditDays, chatDays, incidentDays } = keep();
      const { ms: time, doubted } = await trustedTime();
      const turn = await directory.takeTurn(turnName, new Date(time), turnMs);
      if (turn) last = { turn: time, at: performance.now() };
      await purge.run({ turn, time }, stopping.signal);
      if (doubted && (turn || !doubting)) {
        logger.warn(
          { clock: now(), deletedAsOf: new Date(time) },
          'the clock is more than a day ahead of the last retention and of the newest telemetry: fewer records are removed; check the clock',
        );
      }
      doubting = doubted;
      if (!turn) return;
      await finishErasures();
      for (const { id } of await directory.deletedOrganizations.list()) {
        await clear(storage.workspace(id).retention, 'removeAudit', time, auditDays);
      }
      for (const { id } of await directory.organizations()) {
        const { retention } = storage.workspace(id);
        const records = await clear(retention, 'removeAudit', time, auditDays);
        const chats = await clear(retention, 'removeChats', time, chatDays);
        const incidents = await clear(retention, 'removeIncidents', time, incidentDays);
        if (records + chats + incidents > 0)
          logger.info({ organizationId: id, records, chats, incidents }, 'removed what is past its retention');
      }
    } catch (error) {
      logger.warn({ error }, 'what is past its retention could not be removed; it is tried again');
    }
  }

  return {
    start() {
      stopping = new AbortController();
      const ask = () => {
        running ??= run().finally(() => (running = undefined));
      };
      ask();
      timer = setInterval(ask, askEveryMs).unref();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

interface PurgeOptions {
  readonly storage: Pick<Storage, 'directory' | 'workspace'>;
  /** Removes what this gateway keeps of an organization outside the storage. Safe twice. */
  readonly forget: (id: OrganizationId, signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
}

interface PurgeRun {
  /** Whether this gateway, of those over the storage, removes what is in it. */
  readonly turn: boolean;
  readonly time: number;
}

/** Removes organizations that were deleted and cannot be restored any more: telemetry first, which may be found by the name. */
class Purge {
  readonly #options: PurgeOptions;
  readonly #forgotten = new Set<OrganizationId>();

  constructor(options: PurgeOptions) {
    this.#options = options;
  }

  async run(at: PurgeRun, signal: AbortSignal): Promise<void> {
    const { storage, logger } = this.#options;
    for (const organization of await storage.directory.deletedOrganizations.list()) {
      if (signal.aborted) return;
      if (organization.id === instanceId) continue;
      try {
        await this.#purge(organization, at, signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ error, organizationId: organization.id }, 'a deleted organization is not removed; tried again');
      }
    }
  }

  async #purge({ id, purgeAt }: DeletedOrganization, { turn, time }: PurgeRun, signal: AbortSignal): Promise<void> {
    const { storage, forget, now, logger } = this.#options;
    if (purgeAt !== undefined && purgeAt.getTime() > time) return;
    if (!this.#forgotten.has(id)) {
      await forget(id, signal);
      this.#forgotten.add(id);
    }
    if (!turn || purgeAt === undefined) return;
    const { directory } = storage;
    const { members, retention, audit } = storage.workspace(id);
    // With the account of those who are in no other one.
    for (const { user } of await members.list()) {
      await directory.people.erase(user.id, { organizationId: id, chats: 'delete' });
    }
    while ((await retention.removeAll()) > 0) if (signal.aborted) return;
    await directory.deletedOrganizations.purged(id);
    const record = { at: now(), event: 'organization.purged', requestId: randomUUID(), outcome: 'ok' } as const;
    await audit.append([{ ...record, subject: 'retention', target: id }]);
    logger.info({ organizationId: id }, 'removed a deleted organization, but for its audit');
  }
}
