import { randomUUID } from 'node:crypto';
import { generateSecret, hashSecret, newId, SightlineError } from '../contract/index.ts';
import type { Actor, AuditRecord, IngestTokenId, OrganizationId, Storage, Vault } from '../contract/index.ts';

/**
 * What senders of telemetry show at the OTLP receiver, and good for nothing else: a token is found by its hash among
 * ingest tokens alone, and no API accepts it. It is kept sealed too, since `get_ingest_config` shows it again.
 */
export interface IngestTokens {
  /** The organization's token; the first one is made when there is none. */
  ensure(organizationId: OrganizationId): Promise<string>;
  /** The token senders are told to use, the newest; undefined when none was ever made. */
  current(organizationId: OrganizationId): Promise<string | undefined>;
  /** A new token from now on. The one before, named in `previous`, goes on working until it is revoked. */
  rotate(
    organizationId: OrganizationId,
    actor: Actor,
  ): Promise<{ readonly token: string; readonly previous?: IngestTokenId }>;
  /** `not_found` when the organization has no such token. */
  revoke(organizationId: OrganizationId, id: IngestTokenId, actor: Actor): Promise<void>;
}

export interface IngestTokensOptions {
  readonly storage: Storage;
  readonly vault: Vault;
  readonly now?: () => Date;
}

type TokenEvent = Extract<AuditRecord['event'], `ingest_token.${string}`>;

export function createIngestTokens({ storage, vault, now = () => new Date() }: IngestTokensOptions): IngestTokens {
  const tokensOf = (organizationId: OrganizationId) => storage.workspace(organizationId).ingestTokens;

  const record = (organizationId: OrganizationId, event: TokenEvent, target: IngestTokenId, subject: string) =>
    storage
      .workspace(organizationId)
      .audit.append([{ at: now(), event, subject, requestId: randomUUID(), target, outcome: 'ok' }]);

  async function create(organizationId: OrganizationId, subject: string) {
    const id = newId('it');
    const token = generateSecret('it');
    await tokensOf(organizationId).create({
      id,
      hash: hashSecret(token),
      sealed: vault.seal(Buffer.from(token), context(id)),
    });
    await record(organizationId, 'ingest_token.created', id, subject);
    return { id, token };
  }

  async function open(organizationId: OrganizationId) {
    const kept = await tokensOf(organizationId).current();
    return kept && { id: kept.id, token: Buffer.from(vault.open(kept.sealed, context(kept.id))).toString() };
  }

  return {
    async ensure(organizationId) {
      const kept = await open(organizationId);
      if (kept) return kept.token;
      const made = await create(organizationId, 'system');
      // Two may do this at once. The newest is the one that everybody is told; a token nobody was told of is withdrawn.
      const current = await open(organizationId);
      if (!current || current.id === made.id) return made.token;
      if (await tokensOf(organizationId).revoke(made.id)) {
        await record(organizationId, 'ingest_token.revoked', made.id, 'system');
      }
      return current.token;
    },

    current: async (organizationId) => (await open(organizationId))?.token,

    async rotate(organizationId, actor) {
      const previous = await tokensOf(organizationId).current();
      const { token } = await create(organizationId, actor.id);
      return previous ? { token, previous: previous.id } : { token };
    },

    async revoke(organizationId, id, actor) {
      if (!(await tokensOf(organizationId).revoke(id))) {
        throw new SightlineError('not_found', `There is no ingest token "${id}".`);
      }
      await record(organizationId, 'ingest_token.revoked', id, actor.id);
    },
  };
}

function context(id: IngestTokenId): string {
  return `ingest-token:${id}`;
}
