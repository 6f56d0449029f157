import { SightlineError, type Health, type Host, type OrganizationId } from '../../src/contract/core/index.ts';
import type {
  Directory,
  MigrationPlan,
  MigrationReport,
  Storage,
  Transfer,
  Workspace,
} from '../../src/contract/storage/index.ts';
import { AuditChains } from './audit-chains.ts';
import { ChatChanges } from './chat-changes.ts';
import { Database } from './database.ts';
import type { Dialect } from './dialect.ts';
import { migrate, planMigration, schemaVersion } from './migrations/run.ts';
import { KnexDirectory } from './repositories/directory.ts';
import { fill, refusals } from './transfer/restore.ts';
import { lookAt } from './transfer/snapshot.ts';
import { UsageMarks } from './usage-marks.ts';
import type { OrganizationParts } from './repositories/repository.ts';
import { AlertSources } from './repositories/alerts/alert-sources.ts';
import { Audit } from './repositories/audit.ts';
import { Chats } from './repositories/chats.ts';
import { Grants } from './repositories/grants.ts';
import { Incidents } from './repositories/incidents.ts';
import { Investigations } from './repositories/investigations.ts';
import { Invitations } from './repositories/invitations.ts';
import { KeptResults, Scans } from './repositories/kept-results.ts';
import { IngestTokens, Keys } from './repositories/keys.ts';
import { Members } from './repositories/members.ts';
import { Retention } from './repositories/retention.ts';
import { Scim } from './repositories/scim/groups.ts';
import { ScimTokens } from './repositories/scim/users.ts';
import { Webhooks } from './repositories/webhooks.ts';
import { Alerts } from './repositories/alerts/alerts.ts';

/** What lives from the first use to `stop`: what all organizations' repositories are made of, before their scope. */
interface Session extends Omit<OrganizationParts, 'database'> {
  readonly database: Database;
  readonly directory: KnexDirectory;
}

export class KnexStorage implements Storage {
  readonly inDataDirectory: boolean;
  readonly #dialect: Dialect;
  readonly #host: Pick<Host, 'logger' | 'now' | 'vault'>;
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #stopping: Promise<void> = Promise.resolve();

  constructor(dialect: Dialect, host: Pick<Host, 'logger' | 'now' | 'vault'>) {
    this.inDataDirectory = dialect.inDataDirectory === true;
    this.#dialect = dialect;
    this.#host = host;
  }

  /** Opens the database and brings its schema up to date. */
  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      await this.migrate();
      signal.throwIfAborted();
      for (const concern of await this.#require().database.concerns()) this.#host.logger.warn({}, concern);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** May be called without `start`; `stop` ends it then as well. */
  async migrate(): Promise<MigrationReport> {
    return await migrate((await this.#opened()).database);
  }

  /** May be called without `start`, as `migrate`. */
  async planMigration(): Promise<MigrationPlan> {
    return await planMigration((await this.#opened()).database);
  }

  stop(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return this.#stopping;
    this.#opening = undefined;
    this.#session = undefined;
    // What could not be opened needs no closing.
    this.#stopping = opening.then(close, () => {});
    return this.#stopping;
  }

  async health(): Promise<Health> {
    try {
      await this.#require().database.read((knex) => knex('organizations').first('id'));
      return { ok: true };
    } catch (error) {
      return { ok: false, detail: error instanceof SightlineError ? error.message : 'The storage cannot be read.' };
    }
  }

  get directory(): Directory {
    return this.#require().directory;
  }

  get transfer(): Transfer {
    const { database } = this.#require();
    return {
      schema: schemaVersion,
      snapshot: (artifacts, work) => database.snapshot(async (knex) => work(await lookAt(knex, artifacts))),
      restore: (batches) => database.fill((knex) => fill(knex, batches), refusals),
    };
  }

  workspace(organizationId: OrganizationId): Workspace {
    const session = this.#require();
    return new KnexWorkspace({ ...session, database: session.database.scoped(organizationId) });
  }

  async #opened(): Promise<Session> {
    const opening = (this.#opening ??= this.#open());
    const session = await opening;
    // Not of one that was stopped meanwhile.
    if (this.#opening === opening) this.#session = session;
    return session;
  }

  async #open(): Promise<Session> {
    const { now, logger, vault } = this.#host;
    const connection = await this.#dialect.connect();
    const database = new Database(connection);
    const marks = new UsageMarks(database, logger);
    return {
      database,
      now,
      vault,
      directory: new KnexDirectory({ database, now, vault }, marks),
      changes: new ChatChanges(connection.bell),
      marks,
      auditChains: new AuditChains(this.#host),
    };
  }

  #require(): Session {
    if (this.#session !== undefined) return this.#session;
    throw new SightlineError('unavailable', 'The storage is not open: it was not started, or was stopped.');
  }
}

async function close({ changes, marks, database }: Session): Promise<void> {
  changes.stop();
  await marks.stop();
  await database.close();
}

/** The only place that makes an organization's repositories. Each is made on access: they hold no state. */
class KnexWorkspace implements Workspace {
  readonly #parts: OrganizationParts;

  constructor(parts: OrganizationParts) {
    this.#parts = parts;
  }

  get organizationId(): OrganizationId {
    return this.#parts.database.organizationId;
  }

  get keys(): Keys {
    return new Keys(this.#parts);
  }
  get members(): Members {
    return new Members(this.#parts);
  }
  get invitations(): Invitations {
    return new Invitations(this.#parts);
  }
  get grants(): Grants {
    return new Grants(this.#parts);
  }
  get ingestTokens(): IngestTokens {
    return new IngestTokens(this.#parts);
  }
  get scim(): Scim {
    return new Scim(this.#parts);
  }
  get scimTokens(): ScimTokens {
    return new ScimTokens(this.#parts);
  }
  get alertSources(): AlertSources {
    return new AlertSources(this.#parts);
  }
  get alerts(): Alerts {
    return new Alerts(this.#parts);
  }
  get incidents(): Incidents {
    return new Incidents(this.#parts);
  }
  get investigations(): Investigations {
    return new Investigations(this.#parts);
  }
  get chats(): Chats {
    return new Chats(this.#parts);
  }
  get audit(): Audit {
    return new Audit(this.#parts);
  }
  get scans(): Scans {
    return new Scans(this.#parts);
  }
  get keptResults(): KeptResults {
    return new KeptResults(this.#parts);
  }
  get retention(): Retention {
    return new Retention(this.#parts);
  }
  get webhooks(): Webhooks {
    return new Webhooks(this.#parts);
  }
}
