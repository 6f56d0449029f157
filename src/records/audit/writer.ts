import { SightlineError, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { AuditLog, AuditRecord, Storage } from '../../contract/storage/index.ts';

export interface AuditWriterOptions {
  readonly storage: Pick<Storage, 'workspace'>;
  readonly logger: Logger;
  /** Longest wait of a record for its batch, which then is written: 50 ms. */
  readonly flushMs?: number;
  /**
   * Records kept or promised for one organization: 5,000, so that a disk that stalls for a moment under 12,000 calls a second
   * refuses none; of all together four times as many.
   */
  readonly maxPending?: number;
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

/** So many wait for no more. */
const batchSize = 500;
/** What comes while a batch is written is the next one: were it no larger, it would fall behind where more comes than it takes. */
const largestBatch = 2_000;
const longestRetryMs = 1_000;

/** The append-only audit of tool calls and issued tokens, written in batches. */
export function createAuditWriter(options: AuditWriterOptions): AuditWriter {
  const { storage, logger, flushMs = 50, maxPending = 5_000 } = options;
  const queues = new Map<OrganizationId, Queue>();
  let pending = 0;
  let stopped = false;

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
        return;
      }
      queue.failures = 0;
      queue.records.splice(0, batch.length);
      pending -= batch.length;
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

  return {
    get pending() {
      return pending;
    },
    get blocked() {
      return [...queues.values()].filter(({ failures }) => failures > 0).length;
    },
    reserve(organizationId) {
      const known = queues.get(organizationId);
      const full =
        pending >= maxPending * 4 || (known !== undefined && known.promised + known.records.length >= maxPending);
      if (stopped || full || (known !== undefined && known.failures > 0)) {
        throw new SightlineError('unavailable', 'This cannot be recorded now, so it was not done.', {
          retryAfterSeconds: 1,
        });
      }
      const queue = known ?? newQueue(organizationId);
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
    },
    async stop() {
      stopped = true;
      // All at once: where the store hangs, each waits for its time-out.
      await Promise.all([...queues.values()].map(last));
    },
  };
}
