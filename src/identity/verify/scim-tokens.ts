import {
  generateSecret,
  hashSecret,
  isId,
  newId,
  SightlineError,
  type IssuerHost,
  type OrganizationId,
  type ScimTokenId,
} from '../../contract/core/index.ts';
import type { Actor, ScimToken } from '../../contract/storage/index.ts';
import { createTrail } from '../people/trail.ts';

/** Found by hash among SCIM tokens alone: no other endpoint takes one, and `/scim/v2` takes nothing else. */
export interface ScimTokens {
  /** The token is shown this once: only its hash is kept. */
  create(organizationId: OrganizationId, actor: Actor): Promise<{ readonly id: ScimTokenId; readonly token: string }>;
  /** Newest first. */
  list(organizationId: OrganizationId): Promise<readonly ScimToken[]>;
  /** `not_found` when the organization has no such token. */
  revoke(organizationId: OrganizationId, id: string, actor: Actor): Promise<void>;
  /** Whose token this is, which counts as a use of it. */
  authenticate(token: string): Promise<ScimCaller | undefined>;
}

export interface ScimCaller {
  readonly id: ScimTokenId;
  readonly organizationId: OrganizationId;
}

const prefix = 'scim';
const shape = /^scim_[A-Za-z0-9_-]{43}$/;
const mostTokens = 20;

export function createScimTokens({ storage, now, logger }: Pick<IssuerHost, 'storage' | 'now' | 'logger'>): ScimTokens {
  const trail = createTrail({ storage, now });
  const tokensOf = (organizationId: OrganizationId) => storage.workspace(organizationId).scimTokens;

  return {
    async create(organizationId, actor) {
      const id = newId('sct');
      const token = generateSecret(prefix);
      await trail.during(organizationId, { event: 'scim_token.created', subject: actor.id, target: id }, async () => {
        if ((await tokensOf(organizationId).list()).length >= mostTokens) {
          throw new SightlineError('conflict', `There are ${mostTokens} SCIM tokens already. End one first.`);
        }
        await tokensOf(organizationId).create({
          id,
          hash: hashSecret(token),
          lastFour: token.slice(-4),
          createdBy: actor.id,
        });
      });
      return { id, token };
    },

    list: (organizationId) => tokensOf(organizationId).list(),

    async revoke(organizationId, id, actor) {
      const target = id.slice(0, 64);
      await trail.during(organizationId, { event: 'scim_token.revoked', subject: actor.id, target }, async () => {
        if (isId('sct', id) && (await tokensOf(organizationId).revoke(id))) return;
        throw new SightlineError('not_found', 'There is no such SCIM token in this organization.');
      });
    },

    async authenticate(token) {
      const caller = shape.test(token) ? await storage.directory.scimTokenByHash(hashSecret(token)) : undefined;
      if (caller === undefined) return undefined;
      // Not awaited; a storage failure must not end the process.
      tokensOf(caller.organizationId)
        .markUsed(caller.id, now())
        .catch((error: unknown) => logger.warn({ error }, 'the last use of a SCIM token could not be recorded'));
      return caller;
    },
  };
}
