import { setTimeout as sleep } from 'node:timers/promises';
import type { RetentionRepository } from '../contract/storage/index.ts';
import { Purge, type PurgeOptions } from './purge.ts';

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
