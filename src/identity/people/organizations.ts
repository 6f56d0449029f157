import type { Storage, Organization } from '../../contract/storage/index.ts';
import type { IngestTokens } from '../verify/ingest-tokens.ts';

export interface Organizations {
  /** With its ingest token, so that reading the ingest configuration never has to make one. `conflict` when the name is taken. */
  create(name: string): Promise<Organization>;
}

export function createOrganizations(of: {
  readonly storage: Storage;
  readonly ingestTokens: IngestTokens;
}): Organizations {
  const { storage, ingestTokens } = of;
  return {
    async create(name) {
      const organization = await storage.directory.createOrganization({ name });
      await ingestTokens.ensure(organization.id);
      return organization;
    },
  };
}
