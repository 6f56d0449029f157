import { randomUUID } from 'node:crypto';
import { SightlineError, type IssuerHost, type OrganizationId, type UserId } from '../../contract/core/index.ts';
import type { AuditRecord, Storage } from '../../contract/storage/index.ts';

interface Entry {
  readonly event: Exclude<AuditRecord['event'], 'tool.call' | 'token.issued'>;
  readonly subject: string;
  readonly target: string;
}

/** The audit of what people change, and of what happens to them. */
export interface Trail {
  /** Makes the change and records it before the promise resolves; a refusal is recorded too. */
  during<Result>(organizationId: OrganizationId, entry: Entry, change: () => Promise<Result>): Promise<Result>;
  record(organizationId: OrganizationId, entry: Entry): Promise<void>;
  /** In every organization of the person, for what concerns the account itself. */
  recordOf(userId: UserId, entry: Entry): Promise<void>;
}

interface TrailOptions extends Pick<IssuerHost, 'now'> {
  readonly storage: Pick<Storage, 'directory' | 'workspace'>;
}

export function createTrail({ storage, now }: TrailOptions): Trail {
  function write(organizationId: OrganizationId, entry: Entry, outcome: string): Promise<void> {
    const record: AuditRecord = { ...entry, at: now(), requestId: randomUUID(), outcome };
    return storage.workspace(organizationId).audit.append([record]);
  }

  return {
    async during(organizationId, entry, change) {
      let result;
      try {
        result = await change();
      } catch (error) {
        if (error instanceof SightlineError) await write(organizationId, entry, error.code);
        throw error;
      }
      await write(organizationId, entry, 'ok');
      return result;
    },
    record: (organizationId, entry) => write(organizationId, entry, 'ok'),
    async recordOf(userId, entry) {
      for (const { organization } of await storage.directory.people.memberships(userId)) {
        await write(organization.id, entry, 'ok');
      }
    },
  };
}
