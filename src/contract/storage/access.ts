import type { Role, Scope } from '../issuer/scopes.ts';
import type { AdminKeyId, IngestTokenId, KeyId, OrganizationId, SecretId, UserId } from '../core/ids.ts';
import type { User } from './record.ts';

export interface KeyRepository {
  create(input: NewKey): Promise<ApiKey>;
  list(): Promise<readonly ApiKey[]>;
  get(id: KeyId): Promise<ApiKey | undefined>;
  /** Adds a second secret. `conflict` when two are active, `not_found` when the key is not of this organization. */
  addSecret(id: KeyId, secret: NewSecret): Promise<ApiKey>;
  /** Deletes one of two secrets. `conflict` when only one is left. */
  removeSecret(id: KeyId, which: 'older' | 'newer'): Promise<ApiKey>;
  /** While it is paused no secret of the key is alive. Doing it again changes nothing. */
  setPaused(id: KeyId, paused: boolean): Promise<ApiKey>;
  /** Deletes the key and its secrets; false when there was none. */
  revoke(id: KeyId): Promise<boolean>;
  /** Written at most once a minute a secret; may be lost in a crash. */
  markUsed(id: KeyId, secret: SecretId, at: Date): Promise<void>;
}

export interface NewSecret {
  readonly id: SecretId;
  /** SHA-256 of the secret, hex. The secret itself is never stored. */
  readonly hash: string;
  /** Of the secret, for people to tell two apart. */
  readonly lastFour: string;
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
  readonly pausedAt?: Date;
  /** Oldest first; one or two. */
  readonly secrets: readonly KeySecret[];
}

export interface KeySecret {
  readonly id: SecretId;
  readonly createdAt: Date;
  /** Absent where the secret is older than the column. */
  readonly lastFour?: string;
  readonly lastUsedAt?: Date;
}

export interface ApiKeyWithHashes {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
  readonly scopes: readonly Scope[];
  readonly paused: boolean;
  readonly secrets: readonly Pick<NewSecret, 'id' | 'hash'>[];
}

/**
 * `conflict` if the change would remove the last admin with an enabled account, and `not_found` if it is one of role and there
 * is no such member: checked in the change's transaction.
 */
export type AdminGuard = 'keep-an-admin';

export interface MemberRepository {
  /**
   * Given here, and so not taken away by what an identity provider says. Adding a member again sets the role. Who is made less
   * than an admin under a guard is not made one by an invitation from before.
   */
  add(userId: UserId, role: Role, guard?: AdminGuard): Promise<void>;
  list(): Promise<readonly { readonly user: User; readonly role: Role }[]>;
  /** Also ends what the person granted in this organization, the invitations they made there, and one that is theirs. */
  remove(userId: UserId, guard?: AdminGuard): Promise<boolean>;
}

export interface IngestTokenRepository {
  create(input: NewIngestToken): Promise<void>;
  /** The newest token, which the set-up instructions show. */
  current(): Promise<IngestToken | undefined>;
  /** All that are taken, the newest first. */
  list(): Promise<readonly IngestToken[]>;
  revoke(id: IngestTokenId): Promise<boolean>;
}

export interface NewIngestToken {
  readonly id: IngestTokenId;
  /** SHA-256 hex, for look-up. */
  readonly hash: string;
  /** Sealed by the vault under context `ingest-token:<id>`, since `get_ingest_config` shows it again. */
  readonly sealed: string;
  readonly createdBy: string;
}

export interface IngestToken extends Omit<NewIngestToken, 'createdBy'> {
  readonly createdAt: Date;
  /** Absent where the token is older than the column. */
  readonly createdBy?: string;
  readonly lastUsedAt?: Date;
}

/** What a key may do on the admin interface; nothing at the MCP endpoint. */
export const adminScopes = ['admin:read', 'admin:write'] as const;
export type AdminScope = (typeof adminScopes)[number];

export interface AdminKey {
  readonly id: AdminKeyId;
  readonly name: string;
  /** Absent where the key is for all organizations. */
  readonly organizationId?: OrganizationId;
  readonly scopes: readonly AdminScope[];
  readonly createdAt: Date;
  readonly createdBy: string;
}

export interface NewAdminKey extends Omit<AdminKey, 'createdAt'> {
  /** SHA-256 of the secret, hex. The secret itself is never stored. */
  readonly hash: string;
}

/** Of the directory, since a key is looked up before its organization is known. */
export interface AdminKeyRepository {
  create(input: NewAdminKey): Promise<AdminKey>;
  list(): Promise<readonly AdminKey[]>;
  /** False when there was none. */
  revoke(id: AdminKeyId): Promise<boolean>;
  /** For every request: by the hash of its secret. */
  find(hash: string): Promise<AdminKey | undefined>;
}
