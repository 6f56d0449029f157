import type {
  GrantId,
  IngestTokenId,
  KeyId,
  Logger,
  OrganizationId,
  ScimTokenId,
  SecretId,
} from '../../src/contract/core/index.ts';
import type { Database } from './database.ts';
import { Scope } from './scope.ts';

const intervalMs = 60_000;
const flushAfterMs = 1_000;
const remembered = 10_000;

type Used = 'api_keys' | 'api_key_secrets' | 'grants' | 'ingest_tokens' | 'scim_tokens';
type UsedId = KeyId | SecretId | GrantId | IngestTokenId | ScimTokenId;

/**
 * When credentials were last used. A request only leaves a note here; notes of a second go to the database in one
 * transaction, and each key's at most once a minute, also where several processes take its requests.
 */
export class UsageMarks {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #pending = new Map<
    UsedId,
    { readonly organizationId: OrganizationId; readonly table: Used; readonly at: number }
  >();
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  mark(organizationId: OrganizationId, table: Used, id: UsedId, at: Date): void {
    if (this.#stopped) return;
    const owned = `${organizationId} ${id}`;
    const time = at.getTime();
    const last = this.#written.get(owned);
    if (last !== undefined && time - last < intervalMs) return;
    // The oldest entry goes first; forgetting one costs a write that the database then declines.
    if (this.#written.size >= remembered) this.#written.delete(this.#written.keys().next().value ?? owned);
    this.#written.set(owned, time);
    this.#pending.set(id, { organizationId, table, at: time });
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref();
  }

  /** Writes what is noted, and takes no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.flush();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // In one order everywhere, so that two processes do not wait for each other.
    const marks = [...this.#pending].toSorted(([left], [right]) => (left < right ? -1 : 1));
    this.#pending.clear();
    if (marks.length === 0) return;
    try {
      await this.#database.write(async (knex) => {
        for (const [id, { organizationId, table, at }] of marks) {
          await new Scope(knex, organizationId)
            .from(table)
            .where({ id })
            .where((due) => void due.whereNull('last_used_at').orWhere('last_used_at', '<=', at - intervalMs))
            .update({ last_used_at: at });
        }
      });
    } catch (error) {
      // Nobody waits for it, and the next use marks again.
      this.#logger.warn({ error }, 'could not record when credentials were last used');
    }
  }
}
