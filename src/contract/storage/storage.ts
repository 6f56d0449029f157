import type { Component } from '../core/component.ts';
import type { GrantId, IngestTokenId, InvestigationId, OrganizationId, ScimTokenId } from '../core/ids.ts';
import type { Role, Scope } from '../issuer/scopes.ts';
import type {
  AdminKeyRepository,
  ApiKeyWithHashes,
  IngestTokenRepository,
  KeyRepository,
  MemberRepository,
} from './access.ts';
import type { AlertRepository, AlertSource, AlertSourceRepository } from './alerts.ts';
import type { AuditRepository } from './audit.ts';
import type { ChatRepository } from './chat.ts';
import type { IncidentRepository } from './incident.ts';
import type { ClaimedInvestigation, InvestigationRepository } from './investigation.ts';
import type { KeptResultRepository, ScanRepository, BucketRepository, GatewayRepository } from './gateways.ts';
import type { Organization, RetentionRepository, User } from './record.ts';
import type {
  ClientRepository,
  DeletedOrganizationRepository,
  GrantRepository,
  InvitationRepository,
  LiveGrant,
  PeopleRepository,
  SessionRepository,
} from './people.ts';
import type { ScimProvisioning, ScimRepository, ScimTokenRepository } from './scim.ts';
import type { ClaimedWebhookMessage, WebhookOutcome, WebhookRepository } from './webhooks.ts';

/**
 * Everything the gateway keeps. What an organization owns is reached only through `workspace(id)`, so a query without an
 * organization cannot be written; the directory holds the little that comes before one is known.
 * All writes are durable when their promise resolves. Times are Dates, UTC, millisecond precision.
 */
export interface Storage extends Component {
  /** Brings the schema up to date; safe beside other instances doing the same. Runs before `start`'s callers get here. */
  migrate(): Promise<MigrationReport>;
  /** What `migrate` would do, without doing it. Also before `start`; `stop` ends what it opened. */
  planMigration(): Promise<MigrationPlan>;
  /** Whether all lies in the data directory, where no gateway on another one sees it. */
  readonly inDataDirectory?: boolean;
  readonly directory: Directory;
  readonly transfer: Transfer;
  workspace(organizationId: OrganizationId): Workspace;
}

export interface MigrationReport {
  readonly applied: readonly string[];
  readonly version: string;
}

export interface MigrationPlan {
  readonly pending: readonly string[];
  /** Of the schema when they are done. */
  readonly version: string;
}

export interface Directory {
  createOrganization(input: { readonly name: string }): Promise<Organization>;
  /** Without deleted ones. */
  organizations(): Promise<readonly Organization[]>;
  /** By id or by name; names are unique, compared without case, also among those that were deleted and can be restored. */
  findOrganization(idOrName: string): Promise<Organization | undefined>;

  createUser(input: { readonly email: string; readonly name: string }): Promise<User>;
  users(): Promise<readonly User[]>;
  findUser(idOrEmail: string): Promise<User | undefined>;

  /** The hot path: whether this secret of this key is alive now, and the key not paused. One prepared statement. An answered object is never changed. */
  liveKey(keyId: string, secretId: string): Promise<LiveKey | undefined>;
  /** For the token exchange: the key, paused or not, with the hashes of its secrets. */
  keyForExchange(keyId: string): Promise<ApiKeyWithHashes | undefined>;
  /** Person and role, if the account is enabled and still a member. */
  liveMember(userId: string, organizationId: OrganizationId): Promise<LiveMember | undefined>;
  /** The hot path for people: one prepared statement. */
  liveGrant(id: GrantId): Promise<LiveGrant | undefined>;
  /** Ends a grant whose organization is not known: a code of it was shown twice. */
  revokeGrant(id: GrantId): Promise<void>;
  /** Whose ingest token this is, which counts as a use of it; `hash` is SHA-256 hex. */
  ingestTokenByHash(
    hash: string,
  ): Promise<{ readonly id: IngestTokenId; readonly organizationId: OrganizationId } | undefined>;

  /** Whose SCIM token this is; `hash` is SHA-256 hex. */
  scimTokenByHash(
    hash: string,
  ): Promise<{ readonly id: ScimTokenId; readonly organizationId: OrganizationId } | undefined>;

  /** For every delivery of alerts: one prepared statement, and the same for any id that is none. */
  alertSource(id: string): Promise<AlertSource | undefined>;

  signingKeys(): Promise<readonly SigningKeyRecord[]>;
  /** In one transaction, if the kids are still `expected` in order; false, and nothing is written, where another was first. */
  replaceSigningKeys(expected: readonly string[], keys: readonly SigningKeyRecord[]): Promise<boolean>;

  readonly artifacts: ArtifactRepository;
  readonly people: PeopleRepository;
  readonly deletedOrganizations: DeletedOrganizationRepository;
  readonly provisioning: ScimProvisioning;
  readonly sessions: SessionRepository;
  readonly clients: ClientRepository;
  readonly gateways: GatewayRepository;
  readonly buckets: BucketRepository;
  readonly adminKeys: AdminKeyRepository;

  /** One that is queued, or whose lease has ended; it becomes running. Organizations take turns; of one it is the oldest. */
  claimInvestigation(lease: Lease): Promise<ClaimedInvestigation | undefined>;
  /** Extends the lease; false when it was lost. */
  renewInvestigation(id: InvestigationId, lease: Lease): Promise<boolean>;

  /** The event that is due for the longest, of a webhook to which none is being sent. */
  claimWebhookMessage(lease: Lease): Promise<ClaimedWebhookMessage | undefined>;
  settleWebhookMessage(message: ClaimedWebhookMessage, lease: Lease, outcome: WebhookOutcome): Promise<void>;

  /** True for one of the gateways that ask within `everyMs`, which is longer than a millisecond. `name`: at most 40 characters. */
  takeTurn(name: string, now: Date, everyMs: number): Promise<boolean>;
  /** When the last turn was taken; undefined before the first. */
  lastTurn(name: string): Promise<Date | undefined>;

  /** Forgets kept results of all organizations that expired by then. */
  removeExpiredResults(before: Date): Promise<void>;
}

export interface Lease {
  readonly holder: string;
  readonly now: Date;
  /** At most ten minutes after `now`: what ends later was given by a clock that has been set back since, and counts as ended. */
  readonly until: Date;
}

export interface LiveKey {
  readonly organizationId: OrganizationId;
  readonly name: string;
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

/** What one organization owns. */
export interface Workspace {
  readonly organizationId: OrganizationId;
  readonly keys: KeyRepository;
  readonly members: MemberRepository;
  readonly invitations: InvitationRepository;
  readonly grants: GrantRepository;
  readonly ingestTokens: IngestTokenRepository;
  readonly scim: ScimRepository;
  readonly scimTokens: ScimTokenRepository;
  readonly alertSources: AlertSourceRepository;
  readonly alerts: AlertRepository;
  readonly incidents: IncidentRepository;
  readonly investigations: InvestigationRepository;
  readonly chats: ChatRepository;
  readonly audit: AuditRepository;
  readonly scans: ScanRepository;
  readonly keptResults: KeptResultRepository;
  readonly retention: RetentionRepository;
  readonly webhooks: WebhookRepository;
}

/*
 * What a storage keeps, on its way into another one: rows of named tables, organization by organization. What they mean
 * is the schema's matter, so only storages of one schema understand each other; the core carries them and reads little.
 */

export type TransferRow = Readonly<Record<string, string | number | boolean | null>>;

/** Rows of one table, few enough to be held. */
export interface TransferBatch {
  /** Whose they are; absent for what belongs to no organization. Rows do not repeat it. */
  readonly organizationId?: OrganizationId;
  readonly table: string;
  readonly rows: readonly TransferRow[];
}

export interface Transfer {
  /** Names the schema that rows are of. */
  readonly schema: string;
  /**
   * Gives `work` a consistent snapshot of everything, unaffected by concurrent writes. Without web sessions; of the issuer's
   * artifacts, only the models that `artifacts` names.
   */
  snapshot<Result>(artifacts: readonly string[], work: (snapshot: StorageSnapshot) => Promise<Result>): Promise<Result>;
  /**
   * Writes everything in one transaction: all of it is there when this resolves, and nothing when it rejects, with
   * `conflict` where the storage holds anything already, or `invalid_argument` for rows that no storage of this schema gave.
   */
  restore(batches: AsyncIterable<TransferBatch>): Promise<void>;
}

export interface StorageSnapshot {
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
  /** In an order in which they can be written: what is referred to comes first. Once. */
  batches(): AsyncIterable<TransferBatch>;
}
