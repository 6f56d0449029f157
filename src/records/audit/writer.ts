import { SightlineError, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { AuditLog, AuditRecord, Recording, Storage } from '../../contract/storage/index.ts';

export interface AuditWriterOptions {
  readonly storage: Pick<Storage, 'workspace'>;
  readonly logger: Logger;
  /** Longest wait of a record for its batch, which then is written: 50 ms. */
  readonly flushMs?: number;
  /**
   * Records kept or promised for one organization: 5,000; of all together four times as many. Callers wait for a place beyond
   * that, so that their rate falls to what the store can take.
   */
  readonly maxPending?: number;
  /** Longest wait of a caller for a place: 10 s. */
  readonly waitMs?: number;
}

export interface AuditWriter extends AuditLog {
  /** Records that are kept or promised and not yet written. */
  readonly pending: number;
  /** Organizations whose records the store refuses, so that they are refused too. */
  readonly blocked: number;
  /** Writes what is kept. Records that the store refuses even now go to the log. */
  stop(): Promise<void>;
}

/** One organization's records, so that a store that refuses one organization's does not hold up the others'. */
interface Queue {
  readonly organizationId: OrganizationId;
  records: AuditRecord[];
  /** Places taken and not yet filled. */
  promised: number;
  failures: number;
  /** Since when, at most, the records wait that came while the last batch was written. */
  since: number;
  timer: NodeJS.Timeout | undefined;
  writing: Promise<void> | undefined;
}

/** A caller without a place. */
interface Waiter {
  readonly organizationId: OrganizationId;
  admit(recording: Recording): void;
  refuse(): void;
}

/** So many wait for no more. */
const batchSize = 500;
/** What comes while a batch is written is the next one: were it no larger, it would fall behind where more comes than it takes. */
const largestBatch = 2_000;
const longestRetryMs = 1_000;
/** A stall is logged once in so long. */
const sayEveryMs = 10_000;

/** The append-only audit of tool calls and issued tokens, written in batches. */
export function createAuditWriter(options: AuditWriterOptions): AuditWriter {
  const { storage, logger, flushMs = 50, maxPending = 5_000, waitMs = 10_000 } = options;
  const queues = new Map<OrganizationId, Queue>();
  /** In the order of their coming. */
  const waiters = new Set<Waiter>();
  let pending = 0;
  let stopped = false;
  let said = -Infinity;

  function newQueue(organizationId: OrganizationId): Queue {
    const idle = { timer: undefined, writing: undefined };
    const queue: Queue = { organizationId, records: [], promised: 0, failures: 0, since: 0, ...idle };
    queues.set(organizationId, queue);
    return queue;
  }

  function schedule(queue: Queue, delay: number): void {
    if (queue.timer !== undefined || queue.writing !== undefined) return;
    queue.timer = setTimeout(() => flushWith(queue), delay);
  }

  /** With all that wait for their time: a store may write the records of many organizations in one transaction. */
  function flushWith(due: Queue): void {
    for (const queue of queues.values()) {
      if (queue === due || (queue.timer !== undefined && queue.failures === 0)) void flush(queue);
    }
  }

  function flush(queue: Queue): Promise<void> {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    queue.writing ??= write(queue).finally(() => {
      queue.writing = undefined;
      if (queue.records.length > 0) schedule(queue, nextDelay(queue));
      else if (queue.promised === 0) queues.delete(queue.organizationId);
    });
    return queue.writing;
  }

  /** What comes while a batch is written waits for the next one: else there is always something, and each a batch of its own. */
  async function write(queue: Queue): Promise<void> {
    if (queue.records.length === 0) return;
    do {
      queue.since = performance.now();
      const batch = queue.records.slice(0, largestBatch);
      try {
        await storage.workspace(queue.organizationId).audit.append(batch);
      } catch (error) {
        queue.failures += 1;
        const { organizationId, failures } = queue;
        logger.error({ error, organizationId, failures, waiting: queue.records.length }, 'audit records not written');
        if (isDown(organizationId)) refuseWaiting((waiter) => waiter.organizationId === organizationId);
        return;
      }
      queue.failures = 0;
      queue.records.splice(0, batch.length);
      pending -= batch.length;
      admitWaiting();
    } while (queue.records.length >= batchSize || (stopped && queue.records.length > 0));
  }

  function nextDelay({ failures, since }: Queue): number {
    if (failures > 0) return Math.min(longestRetryMs, flushMs * 2 ** (failures - 1));
    return Math.max(0, flushMs - (performance.now() - since));
  }

  async function last(queue: Queue): Promise<void> {
    await queue.writing;
    await flush(queue);
    clearTimeout(queue.timer);
    queue.timer = undefined;
    if (queue.records.length === 0) return;
    const { organizationId, records } = queue;
    logger.error({ organizationId, records }, 'audit records kept in the log, since the store refused them');
    pending -= records.length;
    queue.records = [];
  }

  /** A failed append is tried again before anybody is refused for it: it may have been a deadlock or a change of the primary. */
  function isDown(organizationId: OrganizationId): boolean {
    return (queues.get(organizationId)?.failures ?? 0) > 1;
  }

  function hasRoom(organizationId: OrganizationId, share: number): boolean {
    const queue = queues.get(organizationId);
    if (stopped || pending >= maxPending * 4 * share) return false;
    return queue === undefined || (queue.failures === 0 && queue.promised + queue.records.length < maxPending * share);
  }

  function isWaitedFor(organizationId: OrganizationId): boolean {
    if (waiters.size === 0) return false;
    return [...waiters].some((waiter) => waiter.organizationId === organizationId);
  }

  function place(organizationId: OrganizationId): Recording {
    const queue = queues.get(organizationId) ?? newQueue(organizationId);
    queue.promised += 1;
    pending += 1;
    let open = true;
    return (record) => {
      if (!open) throw new Error('an audit place was used twice');
      open = false;
      queue.promised -= 1;
      queue.records.push(record);
      if (queue.records.length >= batchSize) void flush(queue);
      else schedule(queue, flushMs);
    };
  }

  function wait(organizationId: OrganizationId, signal?: AbortSignal): Promise<Recording> {
    if (performance.now() - said > sayEveryMs) {
      said = performance.now();
      logger.warn({ organizationId, pending }, 'calls wait, since the storage takes audit records more slowly');
    }
    const { promise, resolve, reject } = Promise.withResolvers<Recording>();
    const leave = (): void => {
      clearTimeout(timer);
      waiters.delete(waiter);
      signal?.removeEventListener('abort', refuse);
    };
    const refuse = (): void => {
      leave();
      reject(unavailable());
    };
    const timer = setTimeout(refuse, waitMs);
    const waiter: Waiter = {
      organizationId,
      admit(recording) {
        leave();
        resolve(recording);
      },
      refuse,
    };
    waiters.add(waiter);
    signal?.addEventListener('abort', refuse);
    if (signal?.aborted === true) refuse();
    return promise;
  }

  function admitWaiting(): void {
    for (const waiter of waiters) {
      if (hasRoom(waiter.organizationId, 1)) waiter.admit(place(waiter.organizationId));
    }
  }

  function refuseWaiting(which: (waiter: Waiter) => boolean): void {
    for (const waiter of waiters) if (which(waiter)) waiter.refuse();
  }

  return {
    get pending() {
      return pending;
    },
    get blocked() {
      return [...queues.values()].filter(({ failures }) => failures > 0).length;
    },
    reserve(organizationId, signal) {
      if (hasRoom(organizationId, 1) && !isWaitedFor(organizationId)) return place(organizationId);
      if (stopped || isDown(organizationId)) throw unavailable();
      return wait(organizationId, signal);
    },
    reserveNow(organizationId) {
      if (stopped || !hasRoom(organizationId, 2)) throw unavailable();
      return place(organizationId);
    },
    async stop() {
      stopped = true;
      refuseWaiting(() => true);
      // All at once: where the store hangs, each waits for its time-out.
      await Promise.all([...queues.values()].map(last));
    },
  };
}

function unavailable(): SightlineError {
  return new SightlineError('unavailable', 'This cannot be recorded now, so it was not done.', {
    retryAfterSeconds: 1,
  });
}
