/*
 * Rows as the database gives them. Big integers come as strings from some drivers and booleans as numbers from others;
 * only columns.ts reads them.
 */

export type DbInteger = number | string;
export type DbBoolean = boolean | number;

/** What is written into a column. */
export type ColumnValue = string | number | boolean | null;

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
  resolution: string | null;
  duplicate_of: DbInteger | null;
}

export interface AlertSourceRow {
  id: string;
  organization_id: string;
  name: string;
  name_key: string;
  plugin: string;
  sealed: string;
  created_at: DbInteger;
  created_by: string;
}

export interface AlertRow {
  organization_id: string;
  position: DbInteger;
  source_id: string;
  key_hash: string | null;
  incident_id: string | null;
  fingerprint: string;
  title: string;
  description: string;
  status: string;
  severity: string;
  labels: string;
  url: string | null;
  starts_at: DbInteger;
  ends_at: DbInteger | null;
  updated_at: DbInteger;
}

export interface AlertGroupRow {
  organization_id: string;
  group_hash: string;
  incident_id: string;
  since: DbInteger;
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
  question: string | null;
  doing: string | null;
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
  /** 0 for what was there before there were chains. */
  chain: DbInteger;
  seq: DbInteger;
  hash: string;
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
  statement: string | null;
}

export interface AuditChainRow {
  organization_id: string;
  number: DbInteger;
  instance: string;
  opened_at: DbInteger;
  seq: DbInteger;
  hash: string;
  seal: string;
  cut_seq: DbInteger | null;
  cut_hash: string | null;
  cut_seal: string | null;
}

export interface AuditRegisterRow {
  organization_id: string;
  chains: DbInteger;
  unchained: DbInteger;
  damaged: DbBoolean;
  seal: string;
}

export interface ScanUsageRow {
  organization_id: string;
  day: string;
  bytes: DbInteger;
}

export interface KeptResultRow {
  organization_id: string;
  id: string;
  holder: string;
  sealed: string;
  bytes: DbInteger;
  expires_at: DbInteger;
}

export interface WebhookRow {
  id: string;
  organization_id: string;
  url: string;
  events: string;
  sealed_secret: string;
  created_at: DbInteger;
  delivered_at: DbInteger | null;
  failed_at: DbInteger | null;
  failure: string | null;
}

export interface WebhookMessageRow {
  id: string;
  organization_id: string;
  webhook_id: string;
  event: string;
  subject: string;
  data: string;
  created_at: DbInteger;
  attempts: number;
  next_at: DbInteger;
  lease_holder: string | null;
  lease_until: DbInteger | null;
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
  alert_sources: AlertSourceRow;
  incidents: IncidentRow;
  incident_services: IncidentServiceRow;
  alerts: AlertRow;
  alert_groups: AlertGroupRow;
  incident_documents: IncidentDocumentRow;
  incident_timeline: IncidentTimelineRow;
  chats: ChatRow;
  chat_messages: ChatMessageRow;
  chat_requests: ChatRequestRow;
  investigations: InvestigationRow;
  investigation_steps: InvestigationStepRow;
  audit: AuditRow;
  audit_chains: AuditChainRow;
  audit_registers: AuditRegisterRow;
  scan_usage: ScanUsageRow;
  kept_results: KeptResultRow;
  webhooks: WebhookRow;
  webhook_messages: WebhookMessageRow;
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
  alert_sources: true,
  incidents: true,
  incident_services: true,
  alerts: true,
  alert_groups: true,
  incident_documents: true,
  incident_timeline: true,
  chats: true,
  chat_messages: true,
  chat_requests: true,
  investigations: true,
  investigation_steps: true,
  audit: true,
  audit_chains: true,
  audit_registers: true,
  scan_usage: true,
  kept_results: true,
  webhooks: true,
  webhook_messages: true,
};

export const organizationTables: readonly string[] = Object.keys(isOrganizationTable);
