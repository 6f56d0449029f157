import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AlertNotice } from '../../contract/alerts/index.ts';
import type { Host, OrganizationId } from '../../contract/core/index.ts';
import type { AlertRepository, AlertSource } from '../../contract/storage/index.ts';

export interface AlertRecorder {
  /** Resolves when the notices are durable. */
  record(source: AlertSource, notices: readonly AlertNotice[]): Promise<void>;
}

interface AlertRecorderOptions extends Pick<Host, 'logger'> {
  readonly storage: { workspace(organizationId: OrganizationId): { readonly alerts: Pick<AlertRepository, 'record'> } };
  /** The agent's name, written on what is queued. */
  readonly engine: string;
  /** Tells the investigation worker that there is work. */
  readonly wake: () => void;
}

interface Delivery {
  readonly source: AlertSource;
  readonly notices: readonly AlertNotice[];
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Of one transaction. SQLite writes without giving way: a request of a thousand alerts, each of a service of its own, held up
 * everybody for seconds. Cut, its first part may be kept where a later one fails; the sender repeats all of it, and what is
 * kept already is not taken for news.
 */
export const noticesTogether = 50;

/**
 * Batches alerts by organization: while one transaction runs, arrivals wait for the next and are written together. A storm
 * of a thousand requests takes a few transactions and hardly slows readers.
 */
export function createAlertRecorder({ storage, engine, wake, logger }: AlertRecorderOptions): AlertRecorder {
  const waiting = new Map<OrganizationId, Delivery[]>();

  async function write(organizationId: OrganizationId, deliveries: readonly Delivery[]): Promise<void> {
    try {
      const { queued, ...keys } = await storage.workspace(organizationId).alerts.record(deliveries, engine);
      if (queued > 0) wake();
      if (Object.values(keys).some(({ length }) => length > 0)) {
        logger.info({ organizationId, ...keys }, 'alerts changed incidents');
      }
      for (const { done } of deliveries) done.resolve();
    } catch (error) {
      for (const { done } of deliveries) done.reject(error);
    }
  }

  async function run(organizationId: OrganizationId, queue: Delivery[]): Promise<void> {
    while (queue.length > 0) {
      // SQLite writes without giving way, so that what came in the meantime is only seen after a turn of the event loop.
      await nextTurn();
      await write(organizationId, takeTogether(queue));
    }
    waiting.delete(organizationId);
  }

  return {
    record(source, notices) {
      const { organizationId } = source;
      const parts: Delivery[] = [];
      for (let start = 0; start < notices.length; start += noticesTogether) {
        const some = notices.slice(start, start + noticesTogether);
        parts.push({ source, notices: some, done: Promise.withResolvers() });
      }
      const queue = waiting.get(organizationId);
      if (queue !== undefined) queue.push(...parts);
      else {
        const begun = [...parts];
        waiting.set(organizationId, begun);
        void run(organizationId, begun);
      }
      return Promise.all(parts.map(({ done }) => done.promise)).then(() => undefined);
    },
  };
}

function takeTogether(queue: Delivery[]): readonly Delivery[] {
  let count = 0;
  let notices = 0;
  for (const delivery of queue) {
    notices += delivery.notices.length;
    if (count > 0 && notices > noticesTogether) break;
    count += 1;
  }
  return queue.splice(0, count);
}
