import { toId, type OrganizationId } from '../core/ids.ts';

/**
 * Whose audit keeps what concerns no single organization. Its records are appended like those of an organization, and none has to
 * be created before; it is among the deleted ones, as one that was removed, so that nothing gets into it.
 */
export const instanceId: OrganizationId = toId('org', `org_${'0'.repeat(26)}`);

/** Append-only: no update, no delete, but that the statements of deleted people go. Each process chains what it appends (audit-chain.ts), so that gateways wait for nobody. */
export interface AuditRepository {
  /** All or none, chained and sealed. Repeated with the same objects after a failure, it writes none of them twice. */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Newest first. */
  list(options: { readonly limit: number; readonly before?: Date }): Promise<readonly AuditRecord[]>;
  /** What a verification has to cover. */
  census(): Promise<AuditCensus>;
  /** By number, those after this one. */
  chains(options: { readonly after: number; readonly limit: number }): Promise<readonly AuditChainState[]>;
  chain(number: number): Promise<AuditChainState | undefined>;
  /** In the order of the chain, those after this position. */
  records(options: {
    readonly chain: number;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly ChainedRecord[]>;
}

/** How many chains were opened, under a seal, so that none can be taken away whole. */
export interface AuditRegister {
  /** Chains are numbered from 1 to this. */
  readonly chains: number;
  /** Records that were there before the first chain. */
  readonly unchained: number;
  /** Once a register was found missing or with a wrong seal. */
  readonly damaged: boolean;
}

export interface AuditCensus {
  /** Undefined before the first chain. */
  readonly register: (AuditRegister & { readonly seal: string }) | undefined;
  /** Records in no chain. */
  readonly unchained: number;
  /** Records of chains that are not there. */
  readonly astray: number;
}

/** What one process appends. */
export interface AuditChain {
  readonly number: number;
  /** Host, process and a random id of the gateway that appends to it. */
  readonly instance: string;
  readonly openedAt: Date;
}

/** A place in a chain. */
export interface AuditPlace {
  /** From 1; 0 is before the first. */
  readonly seq: number;
  /** SHA-256 hex over the record here and the hash before it. */
  readonly hash: string;
}

export type SealedPlace = AuditPlace & { readonly seal: string };

export interface AuditChainState extends AuditChain {
  readonly head: SealedPlace;
  /** Retention removed the records up to here. */
  readonly cut?: SealedPlace;
}

export interface ChainedRecord extends AuditPlace {
  readonly record: AuditRecord;
  /** Where its statement was erased: the seal of what stayed, made when the hash was still right. */
  readonly erased?: string;
}

export const auditEvents = [
  'tool.call',
  'token.issued',
  'key.created',
  'key.rotated',
  'key.retired',
  'key.discarded',
  'key.paused',
  'key.resumed',
  'key.revoked',
  'grant.created',
  'grant.revoked',
  'person.signed_in',
  'person.invited',
  'person.joined',
  'person.disabled',
  'person.enabled',
  'person.deleted',
  'person.exported',
  'invitation.revoked',
  'member.role_changed',
  'member.removed',
  'organization.deleted',
  'organization.restored',
  'organization.purged',
  'password.changed',
  'password.link_created',
  'ingest_token.created',
  'ingest_token.revoked',
  'scim_token.created',
  'scim_token.revoked',
  'scim.changed',
  'alert_source.created',
  'alert_source.rotated',
  'alert_source.removed',
  'webhook.created',
  'webhook.removed',
  'admin_key.created',
  'admin_key.revoked',
  'admin.call',
] as const;

export type AuditEvent = (typeof auditEvents)[number];

export interface AuditRecord {
  readonly at: Date;
  readonly event: AuditEvent;
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
  /** What a call asked for in SQL, where the config has it kept. */
  readonly statement?: string;
}

/** Where what happens often is recorded, in batches. */
export interface AuditLog {
  /**
   * A place for one record, taken before the work that it will tell of. Where the audit is slower than the calls it comes later,
   * with the next batch that is written. Rejects with `unavailable` when records cannot be kept now, or no place came within
   * seconds: nothing happens unaudited. What it answers must be called exactly once.
   * @param signal gives up the wait.
   */
  reserve(organizationId: OrganizationId, signal?: AbortSignal): Recording | Promise<Recording>;
  /** For who cannot wait: some places beyond those are theirs. Throws `unavailable`. */
  reserveNow(organizationId: OrganizationId): Recording;
}

export type Recording = (record: AuditRecord) => void;
