import { randomUUID } from 'node:crypto';
import type { Logger, OrganizationId } from '../contract/core/index.ts';
import { instanceId, type DeletedOrganization, type Storage } from '../contract/storage/index.ts';

export interface PurgeOptions {
  readonly storage: Pick<Storage, 'directory' | 'workspace'>;
  /** Removes what this gateway keeps of an organization outside the storage. Safe twice. */
  readonly forget: (id: OrganizationId, signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Removes organizations that were deleted and cannot be restored any more: telemetry first, which may be found by the name. */
export class Purge {
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
