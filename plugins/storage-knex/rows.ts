import { movedOfOrganization, type DbInteger, type Owned, type RowOf, type Unowned } from './tables.ts';

/** Tables of an organization that an export leaves out, and what rows have beside their columns' kinds. */
interface More {
  members: { source: 'given' | 'provider' };
  /** The audit numbers its rows itself, in the order in which they are written. */
  audit: { id?: DbInteger };
  kept_results: { id: string; holder: string; sealed: string; bytes: DbInteger; expires_at: DbInteger };
}

/** What an organization owns; reached only through a Scope. */
export type OrganizationTables = {
  [Name in keyof Owned | keyof More]: { organization_id: string } & (Name extends keyof Owned
    ? RowOf<Owned[Name]>
    : unknown) &
    (Name extends keyof More ? More[Name] : unknown);
};

export type OrganizationTable = keyof OrganizationTables;

export const organizationTables: readonly string[] = [
  ...movedOfOrganization.keys(),
  'kept_results' satisfies OrganizationTable,
];

export type OrganizationRow = RowOf<Unowned['organizations']>;
export type UserRow = RowOf<Unowned['users']>;
export type IdentityRow = RowOf<Unowned['identities']>;
export type ClientRow = RowOf<Unowned['oauth_clients']>;
export type SigningKeyRow = RowOf<Unowned['signing_keys']>;
export type ArtifactRow = RowOf<Unowned['artifacts']>;

export type MemberRow = OrganizationTables['members'];
export type InvitationRow = OrganizationTables['invitations'];
export type GrantRow = OrganizationTables['grants'];
export type ApiKeyRow = OrganizationTables['api_keys'];
export type ApiKeySecretRow = OrganizationTables['api_key_secrets'];
export type IngestTokenRow = OrganizationTables['ingest_tokens'];
export type IncidentRow = OrganizationTables['incidents'];
export type AlertSourceRow = OrganizationTables['alert_sources'];
export type AlertRow = OrganizationTables['alerts'];
export type IncidentDocumentRow = OrganizationTables['incident_documents'];
export type IncidentTimelineRow = OrganizationTables['incident_timeline'];
export type ChatRow = OrganizationTables['chats'];
export type ChatMessageRow = OrganizationTables['chat_messages'];
export type InvestigationRow = OrganizationTables['investigations'];
export type AuditRow = OrganizationTables['audit'];
export type AuditChainRow = OrganizationTables['audit_chains'];
export type KeptResultRow = OrganizationTables['kept_results'];
export type WebhookRow = OrganizationTables['webhooks'];
export type WebhookMessageRow = OrganizationTables['webhook_messages'];

export interface SessionRow {
  hash: string;
  user_id: string;
  organization_id: string | null;
  created_at: DbInteger;
  expires_at: DbInteger;
}

export interface GatewayRow {
  id: string;
  host: string;
  telemetry_in: string | null;
  seen_at: DbInteger;
}

export interface BucketRow {
  name: string;
  empty_at: DbInteger;
}

export interface LockRow {
  name: string;
  taken: DbInteger;
}
