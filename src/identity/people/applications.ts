import { SightlineError } from '../../contract/core/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import type { People } from './people.ts';
import type { Trail } from './trail.ts';

/** OAuth clients that people let in. */
export type Applications = Pick<People, 'applications' | 'revokeApplication'>;

export function createApplications({
  storage,
  trail,
}: {
  readonly storage: Storage;
  readonly trail: Trail;
}): Applications {
  return {
    applications: (organizationId, userId) => storage.workspace(organizationId).grants.list(userId),
    async revokeApplication(organizationId, id, actor, userId) {
      await trail.during(organizationId, { event: 'grant.revoked', subject: actor.id, target: id }, async () => {
        if (!(await storage.workspace(organizationId).grants.revoke(id, userId))) {
          throw new SightlineError('not_found', 'This application is not connected any more.');
        }
      });
    },
  };
}
