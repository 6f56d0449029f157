import type { Workspace } from '../../src/contract/storage/index.ts';
import { AlertSources } from './repositories/alerts/alert-sources.ts';
import { Audit } from './repositories/audit.ts';
import { Chats } from './repositories/chats.ts';
import { Grants } from './repositories/grants.ts';
import { Incidents } from './repositories/incidents.ts';
import { Investigations } from './repositories/investigations.ts';
import { Invitations } from './repositories/invitations.ts';
import { KeptResults } from './repositories/kept-results.ts';
import { Keys } from './repositories/keys.ts';
import { Members } from './repositories/members.ts';
import { Retention } from './repositories/retention.ts';
import { Webhooks } from './repositories/webhooks.ts';
import { OrganizationRepository } from './repositories/repository.ts';
import { Alerts } from './repositories/alerts/alerts.ts';
import { Scans } from './repositories/scans.ts';
import { IngestTokens } from './repositories/ingest-tokens.ts';

/** The only place that makes an organization's repositories. They hold no state. */
export class KnexWorkspace extends OrganizationRepository implements Workspace {
  readonly organizationId = this.database.organizationId;
  readonly keys = new Keys(this.parts);
  readonly members = new Members(this.parts);
  readonly invitations = new Invitations(this.parts);
  readonly grants = new Grants(this.parts);
  readonly ingestTokens = new IngestTokens(this.parts);
  readonly alertSources = new AlertSources(this.parts);
  readonly alerts = new Alerts(this.parts);
  readonly incidents = new Incidents(this.parts);
  readonly investigations = new Investigations(this.parts);
  readonly chats = new Chats(this.parts);
  readonly audit = new Audit(this.parts);
  readonly scans = new Scans(this.parts);
  readonly keptResults = new KeptResults(this.parts);
  readonly retention = new Retention(this.parts);
  readonly webhooks = new Webhooks(this.parts);
}
