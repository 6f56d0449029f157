import { randomUUID } from 'node:crypto';
import type { AuditRecord, KeyId, Logger, OrganizationId, SecretId, Storage } from '../../src/contract/index.ts';

/** Writes `token.issued` audit records in groups, so that a token does not wait for the disk. */
export interface IssuanceLog {
  add(issuance: Issuance): void;
  /** Resolves when everything added before is written. */
  flush(): Promise<void>;
}

export interface Issuance {
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
  readonly secretId: SecretId;
}

const delayMs = 50;

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
    add({ organizationId, keyId, secretId }) {
      const record: AuditRecord = {
        at: now(),
        event: 'token.issued',
        subject: keyId,
        requestId: randomUUID(),
        target: secretId,
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
