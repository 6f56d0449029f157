import type { OrganizationId, ScimGroupId, ScimTokenId, ScimUserId, UserId } from '../core/ids.ts';
import type { Role } from '../issuer/scopes.ts';
import type { EndedAccess } from './people.ts';

/** What an identity provider provisions by SCIM (RFC 7643), as it is in one organization. */
export interface ScimRepository {
  user(id: ScimUserId): Promise<ScimUser | undefined>;
  /** Oldest first. */
  users(query: ScimQuery<'id' | 'account' | 'userName' | 'externalId' | 'email'>): Promise<ScimPage<ScimUser>>;
  group(id: ScimGroupId): Promise<ScimGroup | undefined>;
  groups(query: ScimQuery<'id' | 'displayName' | 'externalId' | 'member'>): Promise<ScimPage<ScimGroup>>;
  groupMembers(groups: readonly ScimGroupId[], limit: number): Promise<readonly ScimGroupMember[]>;
  /** `conflict` for a name that is taken, `not_found` for a group, `invalid_argument` for a member that is not there. */
  saveGroup(change: ScimGroupChange, rules: ScimRules): Promise<SavedGroup>;
  /** Undefined where there is no such group. */
  removeGroup(id: ScimGroupId, rules: ScimRules): Promise<readonly RoleChange[] | undefined>;
  /** Makes the roles of provisioned members what groups and rules say now. */
  settleRoles(rules: ScimRules): Promise<readonly RoleChange[]>;
}

/** A provisioned person. The account behind it is shared by all organizations; nothing here is. */
export interface ScimUser {
  readonly id: ScimUserId;
  readonly userId: UserId;
  readonly userName: string;
  readonly active: boolean;
  /** The resource's attributes, JSON text. */
  readonly attributes: string;
  /** Counts its changes. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ScimGroup {
  readonly id: ScimGroupId;
  readonly displayName: string;
  readonly externalId?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ScimGroupMember {
  readonly groupId: ScimGroupId;
  readonly id: ScimUserId;
  readonly userName: string;
}

/** All that `where` names is equal, names and addresses without regard to case. */
export interface ScimQuery<Field extends string> {
  readonly where: Readonly<Partial<Record<Field, string>>>;
  readonly offset: number;
  readonly limit: number;
}

export interface ScimPage<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

export interface ScimRules {
  /** Groups, by name or external id, whose members are admins. Everybody else who is provisioned is a member. */
  readonly adminGroups: readonly string[];
}

export interface ScimGroupChange {
  /** Absent for a new one. */
  readonly id?: ScimGroupId;
  readonly displayName?: string;
  /** `null` removes it. */
  readonly externalId?: string | null;
  /** All members from now on, before `add` and `remove`. */
  readonly replace?: readonly ScimUserId[];
  readonly add?: readonly ScimUserId[];
  readonly remove?: readonly ScimUserId[];
}

export interface SavedGroup {
  readonly group: ScimGroup;
  readonly roles: readonly RoleChange[];
}

export interface RoleChange {
  readonly userId: UserId;
  readonly role: Role;
}

export interface NewScimUser {
  readonly userName: string;
  readonly externalId?: string;
  readonly email: string;
  /** Of the account. */
  readonly name: string;
  readonly active: boolean;
  readonly attributes: string;
}

/** A whole user. `version` is that of the one the change was made from. */
export interface ChangedScimUser extends NewScimUser {
  readonly id: ScimUserId;
  readonly version: number;
}

export interface Provisioned {
  readonly user: ScimUser;
  /** Whether the person became a member by it. */
  readonly joined: boolean;
  /** What ended when the person stopped being active. */
  readonly ended?: EndedAccess;
  readonly roles: readonly RoleChange[];
}

export interface ScimProvisioning {
  /**
   * Keeps a person, and makes the membership what `active` says: given with an account of the address, which is made where
   * there is none, or ended with all that the person acts by in this organization. The account's name and address follow
   * while no other organization has it. `conflict` where user name or account are taken, `unavailable` where the person has
   * changed since `version`.
   */
  provision(
    organizationId: OrganizationId,
    user: NewScimUser | ChangedScimUser,
    rules: ScimRules,
  ): Promise<Provisioned>;
  /** Ends the same and forgets the person but for the fact, by which no sign-in brings the membership back. */
  unprovision(organizationId: OrganizationId, id: ScimUserId): Promise<Provisioned | undefined>;
}

export interface ScimTokenRepository {
  create(input: NewScimToken): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly ScimToken[]>;
  revoke(id: ScimTokenId): Promise<boolean>;
  /** Written at most once a minute; may be lost in a crash. */
  markUsed(id: ScimTokenId, at: Date): Promise<void>;
}

export interface NewScimToken {
  readonly id: ScimTokenId;
  /** SHA-256 hex. The token itself is never stored. */
  readonly hash: string;
  /** Of the token, for people to tell two apart. */
  readonly lastFour: string;
  readonly createdBy: string;
}

export interface ScimToken extends Omit<NewScimToken, 'hash'> {
  readonly createdAt: Date;
  readonly lastUsedAt?: Date;
}
