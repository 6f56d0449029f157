import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { Workspace } from '../../src/contract/storage/index.ts';
import { AlertSources } from './repositories/alerts/alert-sources.ts';
import { Audit } from './repositories/audit.ts';
import { Chats } from './repositories/chats.ts';
import { Grants } from './repositories/grants.ts';
import { Incidents } from './repositories/incidents.ts';
import { Investigations } from './repositories/investigations.ts';
import { Invitations } from './repositories/invitations.ts';
import { KeptResults } from './repositories/kept-results.ts';
import { IngestTokens, Keys } from './repositories/keys.ts';
import { Members } from './repositories/members.ts';
import { Retention } from './repositories/retention.ts';
import { Webhooks } from './repositories/webhooks.ts';
import type { OrganizationParts } from './repositories/repository.ts';
import { Alerts } from './repositories/alerts/alerts.ts';
import { Scans } from './repositories/scans.ts';

/** The only place that makes an organization's repositories. Each is made on access: they hold no state. */
export class KnexWorkspace implements Workspace {
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
