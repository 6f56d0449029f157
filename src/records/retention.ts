import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, OrganizationId } from '../contract/core/index.ts';
import {
  instanceId,
  type DeletedOrganization,
  type RetentionRepository,
  type Storage,
} from '../contract/storage/index.ts';

const askEveryMs = 600_000;
const turnMs = 3_600_000;
const dayMs = 86_400_000;
/** Between two batches, so that other writers get the storage. */
const pauseMs = 50;

/** Days after a record, or after the last change of a finished chat or closed incident; undefined: for ever. */
export type Keep = Readonly<Record<'auditDays' | 'chatDays' | 'incidentDays', number | undefined>>;

export interface RetentionOptions extends PurgeOptions {
  /** Asked before each run. */
  readonly keep: () => Keep;
}

export interface Retention {
  start(): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Removes what is older than configured: once an hour, by whichever gateway of the storage asks first. */
export function createRetention(options: RetentionOptions): Retention {
  const { storage, keep, now, logger } = options;
  const purge = new Purge(options);
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function clear(
    retention: RetentionRepository,
    remove: Exclude<keyof RetentionRepository, 'removeAll'>,
    days: number | undefined,
  ): Promise<number> {
    if (days === undefined) return 0;
    const before = new Date(now().getTime() - days * dayMs);
    let removed = 0;
    while (!stopping.signal.aborted) {
      const batch = await retention[remove](before);
      if (batch === 0) break;
      removed += batch;
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    return removed;
  }

  async function run(): Promise<void> {
    try {
      const { directory } = storage;
      const { auditDays, chatDays, incidentDays } = keep();
      const turn = await directory.takeTurn('retention', now(), turnMs);
      await purge.run(turn, stopping.signal);
      if (!turn) return;
      await directory.people.finishErasures(new Date(now().getTime() - turnMs));
      for (const { id } of await directory.deletedOrganizations.list()) {
        await clear(storage.workspace(id).retention, 'removeAudit', auditDays);
      }
      for (const { id } of await directory.organizations()) {
        const { retention } = storage.workspace(id);
        const records = await clear(retention, 'removeAudit', auditDays);
        const chats = await clear(retention, 'removeChats', chatDays);
        const incidents = await clear(retention, 'removeIncidents', incidentDays);
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

/** Removes organizations that were deleted and cannot be restored any more: telemetry first, which may be found by the name. */
class Purge {
  readonly #options: PurgeOptions;
  readonly #forgotten = new Set<OrganizationId>();

  constructor(options: PurgeOptions) {
    this.#options = options;
  }

  /** @param turn whether this gateway, of those over the storage, removes what is in it. */
  async run(turn: boolean, signal: AbortSignal): Promise<void> {
    const { storage, logger } = this.#options;
    for (const organization of await storage.directory.deletedOrganizations.list()) {
      if (signal.aborted) return;
      if (organization.id === instanceId) continue;
      try {
        await this.#purge(organization, turn, signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ error, organizationId: organization.id }, 'a deleted organization is not removed; tried again');
      }
    }
  }

  async #purge({ id, purgeAt }: DeletedOrganization, turn: boolean, signal: AbortSignal): Promise<void> {
    const { storage, forget, now, logger } = this.#options;
    if (purgeAt !== undefined && purgeAt > now()) return;
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
