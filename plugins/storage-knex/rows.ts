/*
 * Rows as the database gives them. Big integers come as strings from some drivers and booleans as numbers from others;
 * only columns.ts reads them.
 */

export type DbInteger = number | string;
export type DbBoolean = boolean | number;

export interface OrganizationRow {
  id: string;
  name: string;
  name_key: string;
  created_at: DbInteger;
}

export interface UserRow {
  id: string;
  email: string;
  email_key: string;
  name: string;
  enabled: DbBoolean;
  created_at: DbInteger;
  password_hash: string | null;
}

export interface MemberRow {
  organization_id: string;
  user_id: string;
  role: string;
  created_at: DbInteger;
  source: 'given' | 'provider';
}

export interface IdentityRow {
  hash: string;
  issuer: string;
  subject: string;
  user_id: string;
  created_at: DbInteger;
}

export interface SessionRow {
  hash: string;
  user_id: string;
  organization_id: string | null;
  created_at: DbInteger;
  expires_at: DbInteger;
}

export interface InvitationRow {
  id: string;
  organization_id: string;
  email: string;
  email_key: string;
  role: string;
  hash: string;
  created_by: string;
  created_at: DbInteger;
  expires_at: DbInteger;
}

export interface GrantRow {
  id: string;
  organization_id: string;
  user_id: string;
  client_id: string;
  client_name: string;
  redirect_origin: string;
  scopes: string;
  created_at: DbInteger;
  last_used_at: DbInteger | null;
}

export interface ClientRow {
  id: string;
  metadata: string;
  created_at: DbInteger;
  used_at: DbInteger | null;
}

export interface CounterRow {
  organization_id: string;
  name: string;
  value: DbInteger;
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

export interface SigningKeyRow {
  kid: string;
  position: number;
  algorithm: string;
  state: string;
  public_jwk: string;
  sealed_private_jwk: string;
  created_at: DbInteger;
  state_since: DbInteger;
}

export interface ArtifactRow {
  model: string;
  id: string;
  payload: string;
  grant_id: string | null;
  uid: string | null;
  user_code: string | null;
  consumed_at: DbInteger | null;
  expires_at: DbInteger | null;
}

export interface ApiKeyRow {
  id: string;
  organization_id: string;
  name: string;
  scopes: string;
  created_by: string;
  created_at: DbInteger;
  last_used_at: DbInteger | null;
}

export interface ApiKeySecretRow {
  id: string;
  organization_id: string;
  key_id: string;
  position: number;
  hash: string;
  created_at: DbInteger;
}

export interface IngestTokenRow {
  id: string;
  organization_id: string;
  position: number;
  hash: string;
  sealed: string;
  created_at: DbInteger;
}

export interface IncidentRow {
  id: string;
  organization_id: string;
  number: DbInteger;
  title: string;
  summary: string;
  search_text: string;
  status: string;
  severity: string;
  waiting_party: string;
  waiting_name: string | null;
  waiting_key: string | null;
  waiting_reason: string | null;
  waiting_since: DbInteger;
  services: string;
  environment: string;
  source: string;
  fingerprint: string | null;
  fingerprint_hash: string | null;
  labels: string;
  assignee: string | null;
  alerts: string;
  started_at: DbInteger;
  detected_at: DbInteger;
  created_at: DbInteger;
  updated_at: DbInteger;
  mitigated_at: DbInteger | null;
  resolved_at: DbInteger | null;
}

export interface IncidentServiceRow {
  organization_id: string;
  incident_id: string;
  service_hash: string;
}

export interface IncidentDocumentRow {
  organization_id: string;
  incident_id: string;
  version: number;
  markdown: string;
  author: string;
  updated_at: DbInteger;
}

export interface IncidentTimelineRow {
  organization_id: string;
  incident_id: string;
  seq: number;
  at: DbInteger;
  actor: string;
  change: string;
  from_value: string | null;
  to_value: string | null;
}

export interface ChatRow {
  id: string;
  organization_id: string;
  title: string;
  search_text: string;
  status: string;
  created_by: string;
  created_by_id: string;
  incident_id: string | null;
  created_at: DbInteger;
  updated_at: DbInteger;
  last_seq: number;
}

export interface ChatMessageRow {
  organization_id: string;
  chat_id: string;
  seq: number;
  id: string;
  role: string;
  author: string;
  at: DbInteger;
  content: string;
  parts: string;
}

export interface ChatRequestRow {
  organization_id: string;
  digest: string;
  chat_id: string;
  message_id: string;
  at: DbInteger;
}

export interface InvestigationRow {
  id: string;
  organization_id: string;
  position: DbInteger;
  chat_id: string | null;
  incident_id: string | null;
  status: string;
  engine: string;
  asked_at: DbInteger;
  started_at: DbInteger | null;
  finished_at: DbInteger | null;
  conclusion: string | null;
  failure: string | null;
  lease_holder: string | null;
  lease_until: DbInteger | null;
}

export interface InvestigationStepRow {
  organization_id: string;
  investigation_id: string;
  seq: number;
  step: string;
}

export interface AuditRow {
  /** Given by the database. */
  id?: DbInteger;
  organization_id: string;
  at: DbInteger;
  event: string;
  subject: string;
  request_id: string;
  target: string;
  outcome: string;
  arguments_hash: string | null;
  duration_ms: number | null;
  row_count: DbInteger | null;
  bytes: DbInteger | null;
  truncated: DbBoolean | null;
}

export interface ScanUsageRow {
  organization_id: string;
  day: string;
  bytes: DbInteger;
}

/** What an organization owns; reached only through a Scope. */
export interface OrganizationTables {
  members: MemberRow;
  invitations: InvitationRow;
  grants: GrantRow;
  counters: CounterRow;
  api_keys: ApiKeyRow;
  api_key_secrets: ApiKeySecretRow;
  ingest_tokens: IngestTokenRow;
  incidents: IncidentRow;
  incident_services: IncidentServiceRow;
  incident_documents: IncidentDocumentRow;
  incident_timeline: IncidentTimelineRow;
  chats: ChatRow;
  chat_messages: ChatMessageRow;
  chat_requests: ChatRequestRow;
  investigations: InvestigationRow;
  investigation_steps: InvestigationStepRow;
  audit: AuditRow;
  scan_usage: ScanUsageRow;
}

export type OrganizationTable = keyof OrganizationTables;

const isOrganizationTable: Readonly<Record<OrganizationTable, true>> = {
  members: true,
  invitations: true,
  grants: true,
  counters: true,
  api_keys: true,
  api_key_secrets: true,
  ingest_tokens: true,
  incidents: true,
  incident_services: true,
  incident_documents: true,
  incident_timeline: true,
  chats: true,
  chat_messages: true,
  chat_requests: true,
  investigations: true,
  investigation_steps: true,
  audit: true,
  scan_usage: true,
};

export const organizationTables: readonly string[] = Object.keys(isOrganizationTable);
