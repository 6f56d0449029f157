import type { IssuerHost } from '../contract/core/index.ts';
import type { Issuer } from '../contract/issuer/index.ts';
import { createPeople } from './people/create-people.ts';
import { createOrganizations, type Organizations } from './people/organizations.ts';
import type { People } from './people/people.ts';
import { createApiKeys, type ApiKeys } from './verify/api-keys.ts';
import { createIngestTokens, type IngestTokens } from './verify/ingest-tokens.ts';
import { createScimTokens, type ScimTokens } from './verify/scim-tokens.ts';
import { createVerifier, type Verifier } from './verify/verifier.ts';

export interface IdentityParts {
  readonly people: People;
  readonly keys: ApiKeys;
  readonly ingestTokens: IngestTokens;
  readonly scimTokens: ScimTokens;
  readonly organizations: Organizations;
  readonly verifier: Verifier;
}

interface IdentityCradle extends IdentityParts {
  readonly foundation: Pick<IssuerHost, 'logger' | 'vault' | 'now'> & {
    readonly config: { readonly retention: { readonly deletedOrganizationDays: number } };
  };
  readonly urls: Pick<IssuerHost, 'resource'>;
  readonly storage: IssuerHost['storage'];
  readonly issuer: Issuer;
}

type Wiring = { readonly [Part in keyof IdentityParts]: (cradle: IdentityCradle) => IdentityParts[Part] };

export const identityWiring: Wiring = {
  people: ({ storage, foundation: { logger, now } }) => createPeople({ storage, logger, now }),
  keys: ({ storage, foundation: { now } }) => createApiKeys({ storage, now }),
  ingestTokens: ({ storage, foundation: { vault } }) => createIngestTokens({ storage, vault }),
  scimTokens: ({ storage, foundation: { logger, now } }) => createScimTokens({ storage, logger, now }),
  organizations: ({ storage, ingestTokens, foundation }) =>
    createOrganizations({
      storage,
      ingestTokens,
      now: foundation.now,
      graceDays: () => foundation.config.retention.deletedOrganizationDays,
    }),
  verifier: ({ issuer, storage, people, urls, foundation: { logger, now } }) =>
    createVerifier({
      issuer,
      resource: urls.resource,
      directory: storage.directory,
      admit: (claims) => people.admit(claims),
      markUsed: (claims) => {
        const { keys, grants } = storage.workspace(claims.organizationId);
        const marked =
          claims.kind === 'key'
            ? keys.markUsed(claims.subject, claims.secretId, now())
            : grants.markUsed(claims.grantId, now());
        // Not awaited; a storage failure must not end the process.
        marked.catch((error: unknown) => logger.warn({ error }, 'the last use of a key could not be recorded'));
      },
      now,
      logger,
    }),
};
