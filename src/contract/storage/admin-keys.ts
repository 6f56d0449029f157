import type { AdminKeyId, OrganizationId } from '../core/ids.ts';

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
