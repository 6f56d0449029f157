import { randomUUID } from 'node:crypto';
import type { AuditRecord, Logger, OrganizationId, Storage } from '../contract/index.ts';

/** A token that was given out. */
export interface Issued {
  readonly organizationId: OrganizationId;
  /** The key or the person. */
  readonly subject: string;
  /** What made it possible: the key's secret, or the grant. */
  readonly target: string;
}

/** Writes `token.issued` audit records in groups, so that a token does not wait for the disk. */
export interface IssuanceLog {
  add(token: Issued): void;
  /** Resolves when everything added before is written. */
  flush(): Promise<void>;
}

/** The commit at the end of a group holds up the whole process: at 50 ms it cost a busy token endpoint a tenth of its time. */
const delayMs = 200;

export function createIssuanceLog(storage: Storage, logger: Logger, now: () => Date): IssuanceLog {
  let waiting = new Map<OrganizationId, AuditRecord[]>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  async function write(groups: ReadonlyMap<OrganizationId, readonly AuditRecord[]>): Promise<void> {
    for (const [organizationId, records] of groups) {
      try {
        await storage.workspace(organizationId).audit.append(records);
      } catch (error) {
        logger.error({ error, organizationId, records: records.length }, 'Audit records of issued tokens were lost.');
      }
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const groups = waiting;
    waiting = new Map();
    writing = writing.then(() => write(groups));
    return writing;
  }

  return {
    add({ organizationId, subject, target }) {
      const record: AuditRecord = {
        at: now(),
        event: 'token.issued',
        subject,
        requestId: randomUUID(),
        target,
        outcome: 'ok',
      };
      const group = waiting.get(organizationId);
      if (group) group.push(record);
      else waiting.set(organizationId, [record]);
      timer ??= setTimeout(() => void flush(), delayMs).unref();
    },
    flush,
  };
}
