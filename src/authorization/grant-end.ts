import { randomUUID } from 'node:crypto';
import { isId } from '../contract/index.ts';
import type { Storage } from '../contract/index.ts';

/**
 * Ends a grant: refresh tokens go with it, and access tokens at the next request, since each looks its grant up. The
 * audit log tells of it.
 */
export function createGrantEnd(
  storage: Pick<Storage, 'directory' | 'workspace'>,
  now: () => Date,
): (id: string) => Promise<void> {
  return async (id) => {
    if (!isId('gra', id)) return;
    const grant = await storage.directory.liveGrant(id);
    await storage.directory.revokeGrant(id);
    if (!grant) return;
    await storage.workspace(grant.organizationId).audit.append([
      {
        at: now(),
        event: 'grant.revoked',
        subject: grant.userId,
        requestId: randomUUID(),
        target: id,
        outcome: 'ok',
      },
    ]);
  };
}
