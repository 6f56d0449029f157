import { generateSecret, hashSecret, newId, SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import {
  adminScopes,
  instanceId,
  type Actor,
  type AdminKey,
  type AdminScope,
  type AuditRecord,
  type Storage,
} from '../../contract/storage/index.ts';
import { createTrail } from '../../identity/people/trail.ts';

/** By which a secret is told from one of an API key and from an access token. */
export const adminSecretPrefix = 'ads';

/** Keys of the admin interface: of one organization, or of all. They open nothing else, and nothing else opens it. */
export interface AdminKeys {
  /** The secret is shown this once: only its hash is kept. */
  create(input: {
    readonly name: string;
    readonly organizationId?: OrganizationId | undefined;
    readonly scopes: readonly AdminScope[];
    readonly actor: Actor;
  }): Promise<{ readonly key: AdminKey; readonly secret: string }>;
  /** Of the organization; without one all. */
  list(organizationId?: OrganizationId): Promise<readonly AdminKey[]>;
  /** `not_found` where there is none, in the organization if one is given. */
  revoke(id: string, actor: Actor, organizationId?: OrganizationId): Promise<void>;
  /** Looked up each time, so that a revoked key ends with the next request. */
  find(secret: string): Promise<AdminKey | undefined>;
}

export function createAdminKeys({ storage, now }: { readonly storage: Storage; readonly now: () => Date }): AdminKeys {
  const trail = createTrail({ storage, now });
  const list = async (organizationId?: OrganizationId): Promise<readonly AdminKey[]> => {
    const all = await storage.directory.adminKeys.list();
    return organizationId === undefined ? all : all.filter((key) => key.organizationId === organizationId);
  };

  /** A key for all organizations concerns each, and the instance. */
  async function record(
    event: AuditRecord['event'] & `admin_key.${string}`,
    key: AdminKey,
    actor: Actor,
  ): Promise<void> {
    const concerned =
      key.organizationId === undefined
        ? [instanceId, ...(await storage.directory.organizations()).map(({ id }) => id)]
        : [key.organizationId];
    for (const id of concerned) await trail.record(id, { event, subject: actor.id, target: key.id });
  }

  return {
    async create({ name, organizationId, scopes, actor }) {
      const secret = generateSecret(adminSecretPrefix);
      const key = await storage.directory.adminKeys.create({
        id: newId('adk', now().getTime()),
        name: name.trim(),
        ...(organizationId !== undefined && { organizationId }),
        scopes: adminScopes.filter((scope) => scopes.includes(scope)),
        hash: hashSecret(secret),
        createdBy: actor.id,
      });
      await record('admin_key.created', key, actor);
      return { key, secret };
    },
    list,
    async revoke(id, actor, organizationId) {
      const key = (await list(organizationId)).find((each) => each.id === id);
      if (key === undefined || !(await storage.directory.adminKeys.revoke(key.id))) {
        throw new SightlineError('not_found', `There is no admin key ${JSON.stringify(id.slice(0, 64))}.`, {
          hint: 'sightline admin-key list names those there are.',
        });
      }
      await record('admin_key.revoked', key, actor);
    },
    async find(secret) {
      if (!secret.startsWith(`${adminSecretPrefix}_`) || secret.length > 100) return undefined;
      return storage.directory.adminKeys.find(hashSecret(secret));
    },
  };
}
