import { SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import type { Actor, Organization, Storage } from '../../contract/storage/index.ts';
import type { IngestTokens } from '../verify/ingest-tokens.ts';
import { createTrail } from './trail.ts';

export interface Organizations {
  /** With its ingest token, so that reading the ingest configuration never has to make one. `conflict` when the name is taken. */
  create(name: string): Promise<Organization>;
  /**
   * From now on nobody and nothing gets into it: people, keys, applications, senders and alert sources. Answers when it will be
   * removed for good, until when it can be restored as it was. `not_found` for one that is not there, or was deleted before.
   */
  remove(id: OrganizationId, actor: Actor): Promise<Date>;
  /** `not_found` for one that is not there, was not deleted, or whose time is over. */
  restore(id: OrganizationId, actor: Actor): Promise<void>;
  /** How long a deleted one can be restored. */
  readonly graceDays: () => number;
}

interface OrganizationsOptions extends Pick<Organizations, 'graceDays'> {
  readonly storage: Storage;
  readonly ingestTokens: IngestTokens;
  readonly now: () => Date;
}

const dayMs = 86_400_000;

export function createOrganizations({ storage, ingestTokens, now, graceDays }: OrganizationsOptions): Organizations {
  const { directory } = storage;
  const trail = createTrail({ storage, now });
  return {
    graceDays,

    async create(name) {
      const organization = await directory.createOrganization({ name });
      await ingestTokens.ensure(organization.id);
      return organization;
    },

    async remove(id, { id: subject }) {
      const purgeAt = new Date(now().getTime() + graceDays() * dayMs);
      if (!(await directory.deletedOrganizations.add(id, purgeAt))) throw none('There is no such organization.');
      await trail.record(id, { event: 'organization.deleted', subject, target: id });
      return purgeAt;
    },

    async restore(id, { id: subject }) {
      if (!(await directory.deletedOrganizations.restore(id))) {
        throw none('There is no such organization to restore, or its time is over.');
      }
      await trail.record(id, { event: 'organization.restored', subject, target: id });
    },
  };
}

function none(message: string): SightlineError {
  return new SightlineError('not_found', message);
}
