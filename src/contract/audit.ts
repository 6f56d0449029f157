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
    | 'grant.created'
    | 'grant.revoked'
    | 'person.signed_in'
    | 'person.invited'
    | 'person.joined'
    | 'person.disabled'
    | 'person.enabled'
    | 'invitation.revoked'
    | 'member.role_changed'
    | 'member.removed'
    | 'password.changed'
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
