import type { Host, OrganizationId } from '../../src/contract/core/index.ts';
import { auditSeals } from '../../src/contract/storage/index.ts';
import type { Workspace } from '../../src/contract/storage/index.ts';
import type { AuditChains } from './audit-chains.ts';
import type { ChatChanges } from './chat-changes.ts';
import type { Database, ScopedDatabase } from './database.ts';
import { AlertSources } from './repositories/alerts/alert-sources.ts';
import { Alerts } from './repositories/alerts/alerts.ts';
import { Audit } from './repositories/audit.ts';
import { Chats } from './repositories/chats.ts';
import { Grants } from './repositories/grants.ts';
import { Incidents } from './repositories/incidents.ts';
import { IngestTokens } from './repositories/ingest-tokens.ts';
import { Investigations } from './repositories/investigations.ts';
import { Invitations } from './repositories/invitations.ts';
import { KeptResults } from './repositories/kept-results.ts';
import { Keys } from './repositories/keys.ts';
import { Members } from './repositories/members.ts';
import { Retention } from './repositories/retention.ts';
import { Scans } from './repositories/scans.ts';
import { Webhooks } from './repositories/webhooks.ts';
import type { UsageMarks } from './usage-marks.ts';

interface Shared {
  readonly database: Database;
  readonly changes: ChatChanges;
  readonly marks: UsageMarks;
  readonly auditChains: AuditChains;
}

/** The one place where an organization's repositories are made, each when it is asked for: they hold no state. */
export class KnexWorkspace implements Workspace {
  readonly organizationId: OrganizationId;
  readonly #scoped: ScopedDatabase;
  readonly #shared: Shared;
  readonly #host: Pick<Host, 'now' | 'vault'>;

  constructor(organizationId: OrganizationId, shared: Shared, host: Pick<Host, 'now' | 'vault'>) {
    this.organizationId = organizationId;
    this.#scoped = shared.database.scoped(organizationId);
    this.#shared = shared;
    this.#host = host;
  }

  get keys(): Keys {
    return new Keys(this.#scoped, this.#shared.marks, this.#host.now);
  }

  get members(): Members {
    return new Members(this.#scoped, this.#host.now);
  }

  get invitations(): Invitations {
    return new Invitations(this.#scoped, this.#host.now);
  }

  get grants(): Grants {
    return new Grants(this.#scoped, this.#shared.marks, this.#host.now);
  }

  get ingestTokens(): IngestTokens {
    return new IngestTokens(this.#scoped, this.#host.now);
  }

  get alertSources(): AlertSources {
    return new AlertSources(this.#scoped, this.#host.now);
  }

  get alerts(): Alerts {
    return new Alerts(this.#scoped, this.#host.now);
  }

  get incidents(): Incidents {
    return new Incidents(this.#scoped, this.#host.now);
  }

  get investigations(): Investigations {
    return new Investigations(this.#scoped, this.#shared.changes, this.#host.now);
  }

  get chats(): Chats {
    return new Chats(this.#scoped, this.#shared.changes, this.#host.now);
  }

  get audit(): Audit {
    return new Audit(this.#scoped, this.#shared.auditChains);
  }

  get scans(): Scans {
    return new Scans(this.#scoped);
  }

  get keptResults(): KeptResults {
    return new KeptResults(this.#scoped);
  }

  get retention(): Retention {
    return new Retention(this.#scoped, auditSeals(this.#host.vault, this.organizationId).cut);
  }

  get webhooks(): Webhooks {
    return new Webhooks(this.#scoped, this.#host.now);
  }
}
