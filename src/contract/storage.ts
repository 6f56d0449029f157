import type { Role, Scope } from './auth.ts';
import type { IncidentStatus, IncidentStatusFilter, Severity, WaitingParty } from './incident.ts';
import type {
  ChatId,
  IncidentId,
  IngestTokenId,
  InvestigationId,
  KeyId,
  MessageId,
  OrganizationId,
  SecretId,
  UserId,
} from './ids.ts';
import type { Component } from './plugin.ts';

/**
 * Everything the gateway keeps. What an organization owns is reached only through `workspace(id)`, so a query without an
 * organization cannot be written; the directory holds the little that comes before one is known.
 * All writes are durable when their promise resolves. Times are Dates, UTC, millisecond precision.
 */
export interface Storage extends Component {
  /** Brings the schema up to date; safe beside other instances doing the same. Runs before `start`'s callers get here. */
  migrate(): Promise<MigrationReport>;
  readonly directory: Directory;
  workspace(organizationId: OrganizationId): Workspace;
}

export interface MigrationReport {
  readonly applied: readonly string[];
  readonly version: string;
}

// ---- directory -------------------------------------------------------------------------------------------------------

export interface Directory {
  createOrganization(input: { readonly name: string }): Promise<Organization>;
  organizations(): Promise<readonly Organization[]>;
  /** By id or by name; names are unique, compared without case. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;

  createUser(input: { readonly email: string; readonly name: string }): Promise<User>;
  users(): Promise<readonly User[]>;
  findUser(idOrEmail: string): Promise<User | undefined>;

  /** The hot path: whether this secret of this key is alive now. One prepared statement. */
  liveKey(keyId: string, secretId: string): Promise<LiveKey | undefined>;
  /** For the token exchange: the key with the hashes of its active secrets. */
  keyForExchange(keyId: string): Promise<ApiKeyWithHashes | undefined>;
  /** Person and role, if the account is enabled and still a member. */
  liveMember(userId: string, organizationId: OrganizationId): Promise<LiveMember | undefined>;
  /** Whose ingest token this is; `hash` is SHA-256 hex. */
  ingestTokenByHash(
    hash: string,
  ): Promise<{ readonly id: IngestTokenId; readonly organizationId: OrganizationId } | undefined>;

  signingKeys(): Promise<readonly SigningKeyRecord[]>;
  /**
   * Replaces the set in one transaction if it still is what `expected` says (kids in order); false when another instance
   * was first, and then nothing is written.
   */
  replaceSigningKeys(expected: readonly string[], keys: readonly SigningKeyRecord[]): Promise<boolean>;

  readonly artifacts: ArtifactRepository;

  /** The oldest investigation that is queued, or running under a lease that has ended; it becomes running, leased to `holder`. */
  claimInvestigation(lease: Lease): Promise<ClaimedInvestigation | undefined>;
  /** Extends the lease; false when it was lost. */
  renewInvestigation(id: InvestigationId, lease: Lease): Promise<boolean>;
}

export interface Lease {
  readonly holder: string;
  readonly now: Date;
  readonly until: Date;
}

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: Date;
}

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly createdAt: Date;
}

export interface LiveKey {
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
}

export interface LiveMember {
  readonly email: string;
  readonly role: Role;
}

export type SigningKeyState = 'next' | 'current' | 'retired';

export interface SigningKeyRecord {
  readonly kid: string;
  readonly algorithm: 'ES256';
  readonly state: SigningKeyState;
  /** JWK, public part, JSON text. */
  readonly publicJwk: string;
  /** Sealed by the vault under context `signing-key:<kid>`. */
  readonly sealedPrivateJwk: string;
  readonly createdAt: Date;
  /** When it came into its present state. */
  readonly stateSince: Date;
}

/** The issuer's short-lived records (codes, grants, sessions, refresh tokens, registered clients). Ids are stored hashed by the issuer. */
export interface ArtifactRepository {
  upsert(artifact: Artifact): Promise<void>;
  find(model: string, id: string): Promise<Artifact | undefined>;
  findBy(model: string, field: 'uid' | 'userCode', value: string): Promise<Artifact | undefined>;
  /** Marks as used; true for exactly one of any number of concurrent callers. */
  consume(model: string, id: string, at: Date): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  revokeGrant(grantId: string): Promise<void>;
  removeExpired(before: Date): Promise<number>;
}

export interface Artifact {
  readonly model: string;
  readonly id: string;
  /** JSON text. */
  readonly payload: string;
  readonly grantId?: string;
  readonly uid?: string;
  readonly userCode?: string;
  readonly consumedAt?: Date;
  readonly expiresAt?: Date;
}

// ---- an organization's own -------------------------------------------------------------------------------------------

export interface Workspace {
  readonly organizationId: OrganizationId;
  readonly keys: KeyRepository;
  readonly members: MemberRepository;
  readonly ingestTokens: IngestTokenRepository;
  readonly incidents: IncidentRepository;
  readonly investigations: InvestigationRepository;
  readonly chats: ChatRepository;
  readonly audit: AuditRepository;
}

export interface KeyRepository {
  create(input: NewKey): Promise<ApiKey>;
  list(): Promise<readonly ApiKey[]>;
  get(id: KeyId): Promise<ApiKey | undefined>;
  /** Adds a second secret. `conflict` when two are active, `not_found` when the key is not of this organization. */
  addSecret(id: KeyId, secret: NewSecret): Promise<ApiKey>;
  /** Deletes the older of two secrets. `conflict` when only one is left. */
  retireOldest(id: KeyId): Promise<ApiKey>;
  /** Deletes the key and its secrets; false when there was none. */
  revoke(id: KeyId): Promise<boolean>;
  /** Written at most once a minute a key; may be lost in a crash. */
  markUsed(id: KeyId, at: Date): Promise<void>;
}

export interface NewSecret {
  readonly id: SecretId;
  /** SHA-256 of the secret, hex. The secret itself is never stored. */
  readonly hash: string;
}

export interface NewKey {
  readonly id: KeyId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secret: NewSecret;
  readonly createdBy: string;
}

export interface ApiKey {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly lastUsedAt?: Date;
  /** Active ones, oldest first; one or two. */
  readonly secrets: readonly { readonly id: SecretId; readonly createdAt: Date }[];
}

export interface ApiKeyWithHashes {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
  readonly secrets: readonly NewSecret[];
}

export interface MemberRepository {
  add(userId: UserId, role: Role): Promise<void>;
  list(): Promise<readonly { readonly user: User; readonly role: Role }[]>;
  remove(userId: UserId): Promise<boolean>;
}

export interface IngestTokenRepository {
  create(input: NewIngestToken): Promise<void>;
  /** The token senders are told to use: the newest. */
  current(): Promise<IngestToken | undefined>;
  revoke(id: IngestTokenId): Promise<boolean>;
}

export interface NewIngestToken {
  readonly id: IngestTokenId;
  /** SHA-256 hex, for look-up. */
  readonly hash: string;
  /** Sealed by the vault under context `ingest-token:<id>`, since `get_ingest_config` shows it again. */
  readonly sealed: string;
}

export interface IngestToken extends NewIngestToken {
  readonly createdAt: Date;
}

// ---- incidents -------------------------------------------------------------------------------------------------------

export interface Actor {
  readonly kind: 'user' | 'key' | 'agent' | 'alert' | 'operator';
  /** `usr_…`, `ak_…`, the agent's engine, the alert source or the operating system's user. */
  readonly id: string;
  readonly name: string;
}

export interface WaitingOn {
  readonly party: WaitingParty;
  /** A member's e-mail address or a vendor's name. */
  readonly name?: string;
  readonly reason?: string;
  readonly since: Date;
}

export interface Alert {
  readonly fingerprint: string;
  readonly title: string;
  readonly status: 'firing' | 'resolved';
  readonly severity: Severity;
  readonly startsAt: Date;
  readonly endsAt?: Date;
  readonly labels: Readonly<Record<string, string>>;
  readonly url?: string;
}

export interface Incident {
  readonly id: IncidentId;
  readonly organizationId: OrganizationId;
  /** 1, 2, 3 … within the organization. */
  readonly number: number;
  /** `INC-12`. */
  readonly key: string;
  readonly title: string;
  readonly summary: string;
  readonly status: IncidentStatus;
  readonly severity: Severity;
  readonly waitingOn: WaitingOn;
  readonly services: readonly string[];
  readonly environment: string;
  readonly source: string;
  readonly fingerprint?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly assignee?: string;
  readonly alerts: readonly Alert[];
  readonly startedAt: Date;
  readonly detectedAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly mitigatedAt?: Date;
  readonly resolvedAt?: Date;
}

export interface NewIncident {
  readonly title: string;
  readonly summary?: string;
  readonly status?: IncidentStatus;
  readonly severity: Severity;
  readonly waitingOn?: Omit<WaitingOn, 'since'>;
  readonly services?: readonly string[];
  readonly environment?: string;
  readonly source: string;
  /** An open incident with the same one is returned instead of a second being made. */
  readonly fingerprint?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly assignee?: string;
  readonly alerts?: readonly Alert[];
  readonly startedAt: Date;
  readonly detectedAt?: Date;
  /** Markdown; becomes version 1 of the document. */
  readonly document?: string;
}

export interface IncidentPatch {
  readonly title?: string;
  readonly summary?: string;
  readonly status?: IncidentStatus;
  readonly severity?: Severity;
  readonly waitingOn?: Omit<WaitingOn, 'since'>;
  readonly services?: readonly string[];
  readonly assignee?: string;
  readonly alerts?: readonly Alert[];
}

export interface IncidentFilter {
  readonly statuses?: readonly IncidentStatusFilter[];
  readonly severities?: readonly Severity[];
  /** Parties, or e-mail addresses matched with the name waited on. */
  readonly waitingOn?: readonly string[];
  readonly service?: string;
  /** Words looked for in title and summary, without case. */
  readonly query?: string;
  /** Of the start time. */
  readonly since?: Date;
  readonly until?: Date;
  readonly limit: number;
  /** From the page before; another filter's cursor is `invalid_argument`. */
  readonly cursor?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface IncidentDocument {
  readonly markdown: string;
  readonly version: number;
  readonly author: Actor;
  readonly updatedAt: Date;
}

export interface TimelineEntry {
  readonly at: Date;
  readonly actor: Actor;
  readonly change: string;
  readonly from?: string;
  readonly to?: string;
}

export interface IncidentRepository {
  create(input: NewIncident, actor: Actor): Promise<Incident>;
  /** By id or key (`INC-12`, any case). */
  get(idOrKey: string): Promise<Incident | undefined>;
  /** Newest start first. */
  list(filter: IncidentFilter): Promise<Page<Incident>>;
  /** Checks the status transition (`conflict` with the allowed ones), sets its times, writes the timeline. */
  update(id: IncidentId, patch: IncidentPatch, actor: Actor): Promise<Incident>;
  document(id: IncidentId): Promise<IncidentDocument | undefined>;
  writeDocument(id: IncidentId, markdown: string, author: Actor): Promise<IncidentDocument>;
  timeline(id: IncidentId): Promise<readonly TimelineEntry[]>;
}

// ---- investigations --------------------------------------------------------------------------------------------------

export type InvestigationStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface InvestigationStep {
  readonly seq: number;
  /** `E1`, `E2` …: what a claim cites. */
  readonly evidence_id: string;
  readonly question: string;
  /** As it ran; works in `query_otel` as it stands. */
  readonly sql: string;
  readonly dialect: string;
  readonly window: { readonly start: string; readonly end: string };
  readonly columns: readonly string[];
  /** At most 50. */
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly observation: string;
  readonly verdict: 'supports' | 'refutes' | 'neutral';
  readonly elapsed_ms: number;
  readonly error?: string;
  readonly recorded_at: string;
}

export interface Claim {
  readonly text: string;
  readonly status: 'supported' | 'hypothesis';
  readonly evidence_ids: readonly string[];
}

export interface Conclusion {
  readonly root_cause: string;
  readonly category: string;
  readonly service: string;
  readonly confidence: 'high' | 'medium' | 'low' | 'none';
  readonly claims: readonly Claim[];
  readonly not_checked?: readonly string[];
}

export interface Investigation {
  readonly id: InvestigationId;
  readonly organizationId: OrganizationId;
  readonly chatId?: ChatId;
  readonly incidentId?: IncidentId;
  readonly status: InvestigationStatus;
  readonly engine: string;
  readonly askedAt: Date;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
  readonly conclusion?: Conclusion;
  /** Safe to show. */
  readonly failure?: string;
}

export interface ClaimedInvestigation {
  readonly id: InvestigationId;
  readonly organizationId: OrganizationId;
}

export interface InvestigationRepository {
  get(id: InvestigationId): Promise<Investigation | undefined>;
  /** Newest first. */
  ofIncident(id: IncidentId): Promise<readonly Investigation[]>;
  ofChat(id: ChatId): Promise<readonly Investigation[]>;
  steps(id: InvestigationId): Promise<readonly InvestigationStep[]>;
  /** For work an alert began; a chat queues its own. */
  enqueue(input: {
    readonly incidentId?: IncidentId;
    readonly chatId?: ChatId;
    readonly engine: string;
  }): Promise<Investigation>;
  /** Stores the step under its seq; a second one with the same seq is ignored, so that a resumed run doubles nothing. */
  addStep(id: InvestigationId, step: InvestigationStep): Promise<void>;
  /** Sets the status with what belongs to it; with a chat, the chat's status and its closing message in the same transaction. */
  finish(id: InvestigationId, result: InvestigationResult): Promise<void>;
}

export type InvestigationResult =
  | ({ readonly status: 'completed'; readonly conclusion: Conclusion } & ClosingMessage)
  | ({ readonly status: 'waiting' } & ClosingMessage)
  | ({ readonly status: 'failed'; readonly failure: string } & ClosingMessage)
  | { readonly status: 'cancelled' };

/** What the chat is told at the end. */
export interface ClosingMessage {
  readonly message: string;
  readonly author: Actor;
  readonly parts?: readonly MessagePart[];
}

// ---- chats -----------------------------------------------------------------------------------------------------------

export type ChatStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export interface Chat {
  readonly id: ChatId;
  readonly organizationId: OrganizationId;
  readonly title: string;
  readonly status: ChatStatus;
  readonly createdBy: Actor;
  readonly incidentId?: IncidentId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastSeq: number;
}

export interface ChatMessage {
  readonly id: MessageId;
  /** 1, 2, 3 … within the chat. */
  readonly seq: number;
  readonly role: 'user' | 'agent' | 'system';
  readonly author: Actor;
  readonly time: Date;
  /** Markdown. */
  readonly content: string;
  readonly parts: readonly MessagePart[];
}

export type MessagePart =
  | { readonly type: 'finding'; readonly evidence_id: string; readonly text: string }
  | { readonly type: 'query'; readonly evidence_id: string; readonly sql: string }
  | { readonly type: 'question'; readonly text: string };

export interface ChatFilter {
  readonly statuses?: readonly ChatStatus[];
  /** Only chats this subject started. */
  readonly createdBy?: string;
  readonly incidentId?: IncidentId;
  readonly query?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface ChatRepository {
  /** The chat, its first message and a queued investigation, in one transaction. The same key from the same author answers the first chat again. */
  start(input: NewChat): Promise<{ readonly chat: Chat; readonly message: ChatMessage }>;
  /** Adds a user's message and queues an investigation unless one is queued; reopens a finished chat. `forbidden` unless `author` started the chat. */
  reply(id: ChatId, input: NewReply): Promise<{ readonly chat: Chat; readonly message: ChatMessage }>;
  get(id: ChatId): Promise<Chat | undefined>;
  /** Most recently changed first. */
  list(filter: ChatFilter): Promise<Page<Chat>>;
  messages(
    id: ChatId,
    options: { readonly afterSeq?: number; readonly limit: number },
  ): Promise<readonly ChatMessage[]>;
  message(id: ChatId, messageId: MessageId): Promise<ChatMessage | undefined>;
  /** Ends what runs. */
  cancel(id: ChatId, actor: Actor): Promise<Chat>;
  /** Resolves when the chat may have changed since `seen` (its updatedAt), or when the signal aborts; never rejects for the latter. */
  changed(id: ChatId, seen: Date, signal: AbortSignal): Promise<void>;
}

export interface NewChat {
  readonly title: string;
  readonly message: string;
  readonly author: Actor;
  readonly incidentId?: IncidentId;
  readonly engine: string;
  readonly idempotencyKey?: string;
}

export interface NewReply {
  readonly message: string;
  readonly author: Actor;
  readonly engine: string;
  readonly idempotencyKey?: string;
}

// ---- audit -----------------------------------------------------------------------------------------------------------

/** Append-only; there is no update and no delete. */
export interface AuditRepository {
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Newest first. */
  list(options: { readonly limit: number; readonly before?: Date }): Promise<readonly AuditRecord[]>;
}

export interface AuditRecord {
  readonly at: Date;
  readonly event:
    | 'tool.call'
    | 'token.issued'
    | 'key.created'
    | 'key.rotated'
    | 'key.retired'
    | 'key.revoked'
    | 'ingest_token.created'
    | 'ingest_token.revoked';
  readonly subject: string;
  readonly requestId: string;
  /** Tool name for a call. */
  readonly target: string;
  /** `ok` or an error code. */
  readonly outcome: string;
  /** SHA-256 hex of the canonical arguments; never the arguments. */
  readonly argumentsHash?: string;
  readonly durationMs?: number;
  readonly rows?: number;
  readonly bytes?: number;
  readonly truncated?: boolean;
}
