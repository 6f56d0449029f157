import {
  generateSecret,
  hashSecret,
  newId,
  SightlineError,
  type IngestTokenId,
  type IssuerHost,
  type OrganizationId,
} from '../../contract/core/index.ts';
import type { Actor, IngestToken } from '../../contract/storage/index.ts';
import { createTrail } from '../people/trail.ts';

/** Found by hash among ingest tokens alone, and no API accepts one. Kept sealed too: `get_ingest_config` shows it. */
export interface IngestTokens {
  /** The organization's token; the first one is made when there is none. */
  ensure(organizationId: OrganizationId): Promise<string>;
  /** The newest token, which the set-up instructions show; undefined before the first, `not_found` where it cannot be shown. */
  current(organizationId: OrganizationId): Promise<string | undefined>;
  /** All that are taken, the newest first. */
  list(organizationId: OrganizationId): Promise<readonly ListedToken[]>;
  /** A new token from now on. The one before, named in `previous`, goes on working until it is revoked. */
  rotate(
    organizationId: OrganizationId,
    actor: Actor,
  ): Promise<{ readonly token: string; readonly previous?: IngestTokenId }>;
  /** `not_found` when the organization has no such token. */
  revoke(organizationId: OrganizationId, id: IngestTokenId, actor: Actor): Promise<void>;
}

/** `lastFour` is absent where another master key sealed the token. */
export type ListedToken = Omit<IngestToken, 'hash' | 'sealed'> & { readonly lastFour?: string };

type Host = Pick<IssuerHost, 'storage' | 'vault'> & Partial<Pick<IssuerHost, 'now'>>;

export function createIngestTokens({ storage, vault, now = () => new Date() }: Host): IngestTokens {
  const trail = createTrail({ storage, now });
  const tokensOf = (organizationId: OrganizationId) => storage.workspace(organizationId).ingestTokens;

  async function create(organizationId: OrganizationId, subject: string): Promise<string> {
    const id = newId('it');
    const token = generateSecret('it');
    await tokensOf(organizationId).create({
      id,
      hash: hashSecret(token),
      sealed: vault.seal(Buffer.from(token), context(id)),
      createdBy: subject,
    });
    await trail.record(organizationId, { event: 'ingest_token.created', subject, target: id });
    return token;
  }

  async function open(organizationId: OrganizationId): Promise<string | undefined> {
    const kept = await tokensOf(organizationId).current();
    try {
      return kept && opened(kept);
    } catch (cause) {
      // Its hash is of no master key, so that what senders have been given works on.
      const message = 'The ingest token was kept under another master key: it works, and cannot be shown.';
      const hint =
        'An admin makes a new one on the page Send telemetry, an operator with: sightline ingest rotate --org NAME';
      throw new SightlineError('not_found', message, { hint, cause });
    }
  }

  function opened({ id, sealed }: IngestToken): string {
    return Buffer.from(vault.open(sealed, context(id))).toString();
  }

  function listed(kept: IngestToken): ListedToken {
    const { hash: _hash, sealed: _sealed, ...shown } = kept;
    try {
      return { ...shown, lastFour: opened(kept).slice(-4) };
    } catch {
      return shown;
    }
  }

  async function first(organizationId: OrganizationId): Promise<string> {
    return (await open(organizationId)) ?? (await create(organizationId, 'system'));
  }

  /** Concurrent requests share one token: a second would be valid but never shown. */
  const making = new Map<OrganizationId, Promise<string>>();

  return {
    ensure(organizationId) {
      const running = making.get(organizationId);
      if (running) return running;
      const made = first(organizationId).finally(() => making.delete(organizationId));
      making.set(organizationId, made);
      return made;
    },

    current: open,

    list: async (organizationId) => (await tokensOf(organizationId).list()).map(listed),

    async rotate(organizationId, actor) {
      const previous = await tokensOf(organizationId).current();
      const token = await create(organizationId, actor.id);
      return previous ? { token, previous: previous.id } : { token };
    },

    async revoke(organizationId, id, actor) {
      if (!(await tokensOf(organizationId).revoke(id))) {
        throw new SightlineError('not_found', `There is no ingest token "${id}".`);
      }
      await trail.record(organizationId, { event: 'ingest_token.revoked', subject: actor.id, target: id });
    },
  };
}

function context(id: IngestTokenId): string {
  return `ingest-token:${id}`;
}
