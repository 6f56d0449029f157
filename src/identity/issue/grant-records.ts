import { isId, newId, type GrantId } from '../../contract/core/index.ts';
import type { AuthorizationClient, Scope } from '../../contract/issuer/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import { createTrail } from '../people/trail.ts';
import type { Account } from './claims.ts';

/** What people granted, as they see it among their connected applications: every access token lives by one of these. */
export interface GrantRecords {
  /** Rejects with `not_found` where the person is no member of the organization. */
  begin(granted: Granted): Promise<GrantId>;
  /** One that says the same already, or a new one. */
  beginOrGoOn(granted: Granted): Promise<GrantId>;
  /** Refresh tokens go with it, and access tokens at the next request, since each looks its grant up. */
  end(id: string): Promise<void>;
}

export interface Granted extends Account {
  readonly client: Pick<AuthorizationClient, 'id' | 'name'>;
  readonly redirectOrigin: string;
  readonly machine?: string;
  readonly scopes: readonly Scope[];
}

export function createGrantRecords(storage: Pick<Storage, 'directory' | 'workspace'>, now: () => Date): GrantRecords {
  const trail = createTrail({ storage, now });

  async function begin({ userId, organizationId, client, ...granted }: Granted): Promise<GrantId> {
    const id = newId('gra', now().getTime());
    const { redirectOrigin, scopes, machine } = granted;
    const of = { userId, clientId: client.id, clientName: client.name };
    await storage
      .workspace(organizationId)
      .grants.create({ id, ...of, redirectOrigin, scopes, ...(machine !== undefined && { machine }) });
    await trail.record(organizationId, { event: 'grant.created', subject: userId, target: id });
    return id;
  }

  return {
    begin,
    async beginOrGoOn(granted) {
      const { userId, organizationId, client, redirectOrigin, scopes } = granted;
      const found = (await storage.workspace(organizationId).grants.list(userId)).find(
        (each) =>
          each.clientId === client.id &&
          each.redirectOrigin === redirectOrigin &&
          each.scopes.join(' ') === scopes.join(' '),
      );
      return found?.id ?? begin(granted);
    },
    async end(id) {
      if (!isId('gra', id)) return;
      const grant = await storage.directory.liveGrant(id);
      await storage.directory.revokeGrant(id);
      if (!grant) return;
      await trail.record(grant.organizationId, { event: 'grant.revoked', subject: grant.userId, target: id });
    },
  };
}
