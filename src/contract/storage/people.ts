import type { Role, Scope } from '../issuer/scopes.ts';
import type { GrantId, InvitationId, KeyId, OrganizationId, UserId } from '../core/ids.ts';
import type { DeletedOrganization, Organization, User } from './record.ts';

/** What a person granted to an OAuth client: a connected application. */
export interface Grant {
  readonly id: GrantId;
  readonly organizationId: OrganizationId;
  readonly user: Pick<User, 'id' | 'email' | 'name'>;
  readonly clientId: string;
  readonly clientName: string;
  /** Host or scheme its answers go to. */
  readonly redirectOrigin: string;
  /** Where it was allowed, for people: `Firefox on Linux, 192.0.2.7`. Absent where no browser was asked. */
  readonly machine?: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly lastUsedAt?: Date;
}

export type NewGrant = Omit<Grant, 'organizationId' | 'user' | 'createdAt' | 'lastUsedAt'> & {
  readonly userId: UserId;
};

export interface GrantRepository {
  create(input: NewGrant): Promise<void>;
  /** Newest first; of everyone, or of one person. */
  list(userId?: UserId): Promise<readonly Grant[]>;
  /** Deletes it with every artifact of it, so that its tokens end with the next request; false when there was none. */
  revoke(id: GrantId, userId?: UserId): Promise<boolean>;
  /** Written at most once a minute; may be lost in a crash. */
  markUsed(id: GrantId, at: Date): Promise<void>;
}

/** The person and the role behind a grant, while grant, account and membership live. */
export interface LiveGrant {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: Role;
  readonly scopes: readonly Scope[];
}

export interface Invitation {
  readonly id: InvitationId;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: Role;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface NewInvitation {
  readonly id: InvitationId;
  readonly email: string;
  readonly role: Role;
  /** SHA-256 hex of the token in the link. */
  readonly hash: string;
  readonly createdBy: string;
  readonly expiresAt: Date;
}

export interface InvitationRepository {
  /** One open invitation an address: an older one ends. `conflict` when the address is a member already. */
  create(input: NewInvitation): Promise<Invitation>;
  /** Open ones, newest first. */
  list(): Promise<readonly Invitation[]>;
  revoke(id: InvitationId): Promise<boolean>;
}

export interface OpenInvitation extends Invitation {
  readonly organization: Organization;
  /** The account of the address, if there is one. */
  readonly user?: User;
}

/** People as they sign in. Nothing here is bound to an organization, for they may belong to several. */
export interface PeopleRepository {
  /** The account with its password hash, for a sign-in; `hash` is absent where they sign in elsewhere. */
  credentials(email: string): Promise<{ readonly user: User; readonly hash?: string } | undefined>;
  /** Also ends every session of the person. */
  setPassword(userId: UserId, hash: string): Promise<void>;
  /** The same where the hash kept is still `before`, which the caller has looked at; else false, and nothing changes. */
  replacePassword(userId: UserId, before: string, hash: string): Promise<boolean>;
  /** Disabling also ends every session of the person. */
  setEnabled(userId: UserId, enabled: boolean): Promise<boolean>;
  /**
   * Ends what a person acts by: sessions, applications, and the invitations and API keys they made. In one organization, where
   * the membership ends as well and a session that shows another one stays; else in all, and the account is disabled.
   * Undefined where there is no such account.
   */
  endAccess(userId: UserId, organizationId?: OrganizationId): Promise<readonly EndedAccess[] | undefined>;
  /** Removes a person; undefined where there is no such account. `conflict`, as AdminGuard says, and nothing changes. */
  erase(userId: UserId, how: Erasure): Promise<Erased | undefined>;
  /**
   * Erases what calls under way wrote into the audit after their people were deleted. Deletions up to then are forgotten,
   * with which nothing refuses any more what those people do. Rejects with the signal's reason once that is aborted.
   */
  finishErasures(before: Date, signal?: AbortSignal): Promise<void>;
  memberships(userId: UserId): Promise<readonly Membership[]>;

  /** By its token's hash, if it is open. */
  invitation(hash: string): Promise<OpenInvitation | undefined>;
  /**
   * Makes the invited person a member, and an account where there is none: with a password hash, or with an identity. In
   * one transaction, by exactly one of any number of callers; undefined when the invitation is no longer open.
   */
  acceptInvitation(hash: string, account: InvitedAccount): Promise<User | undefined>;

  /** Whose identity this is. */
  identity(issuer: string, subject: string): Promise<User | undefined>;
  /** A new account with an identity and no password. `conflict` when address or identity is taken. */
  createWithIdentity(input: NewIdentity): Promise<User>;
  /**
   * `conflict` when the identity is taken, or is to be the account's first and there is another. As the only one it takes the
   * place of all others, whose sessions end; `conflict` where any organization has the person, a deleted one too.
   */
  linkIdentity(userId: UserId, issuer: string, subject: string, which?: 'first' | 'another' | 'only'): Promise<void>;
  /** Whether an account is linked to any identity. */
  hasIdentity(userId: UserId): Promise<boolean>;
  /** Organizations whose directory said that the person left, of an account that was erased since. */
  leftFrom(person: Omit<NewIdentity, 'name'>): Promise<ReadonlySet<OrganizationId>>;
  /**
   * Makes the memberships that come from an identity provider equal to these, and leaves those given here alone.
   * With `take-nothing`, `conflict` instead of ending a membership or lowering a role; then nothing is changed.
   */
  syncMemberships(
    userId: UserId,
    memberships: readonly { readonly organizationId: OrganizationId; readonly role: Role }[],
    guard?: 'take-nothing',
  ): Promise<void>;
}

export interface EndedAccess {
  readonly organizationId: OrganizationId;
  /** Whether the person was a member until then. */
  readonly member: boolean;
  /** API keys that were revoked. */
  readonly keys: readonly KeyId[];
}

/**
 * `endAccess`, and the membership ends. The person's chats go, or stay as `deletedPerson`'s; so does what else they did, and
 * their name and address where those are a whole value, the name unless another member has it. Where SCIM said that the person
 * left, hashes of address and identities stay, so that no sign-in undoes it. Of the audit the statements go of the person and of keys they made.
 */
export interface Erasure {
  /** Nothing is touched elsewhere, and the account goes only when no organization has it any more. In all without. */
  readonly organizationId?: OrganizationId | undefined;
  readonly chats: 'delete' | 'keep';
}

export interface Erased {
  readonly user: User;
  /** Whether the account is gone, too. */
  readonly account: boolean;
  readonly ended: readonly EndedAccess[];
}

/** For an account that exists: `existing`, who has signed in as it. */
export type InvitedAccount =
  | { readonly kind: 'existing'; readonly userId: UserId }
  | { readonly kind: 'password'; readonly name: string; readonly hash: string }
  | { readonly kind: 'identity'; readonly name: string; readonly issuer: string; readonly subject: string };

export interface NewIdentity {
  readonly email: string;
  readonly name: string;
  readonly issuer: string;
  readonly subject: string;
}

export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
}

export interface DeletedMembership extends DeletedOrganization {
  readonly role: Role;
}

/** Organizations on their way out. Until they are restored, all else answers as if they were not there. */
export interface DeletedOrganizationRepository {
  /** False for one that is not there, or was deleted before. */
  add(id: OrganizationId, purgeAt: Date): Promise<boolean>;
  /** False for one that is not there, or whose time is over. */
  restore(id: OrganizationId): Promise<boolean>;
  /** In the order of deletion; purged ones too, since their audit is there. */
  list(): Promise<readonly DeletedOrganization[]>;
  /** Those of a person that can be restored. */
  of(userId: UserId): Promise<readonly DeletedMembership[]>;
  /** What it owned is gone: its name goes too, and is free. */
  purged(id: OrganizationId): Promise<void>;
}

/** Browsers that are signed in. */
export interface SessionRepository {
  create(input: NewSession): Promise<void>;
  /** In one look-up, with the person and the role in the chosen organization: absent when the account is disabled or it has ended. */
  find(hash: string): Promise<LiveSession | undefined>;
  /** Which organization its pages show; false when the person is not a member. */
  choose(hash: string, organizationId: OrganizationId): Promise<boolean>;
  remove(hash: string): Promise<void>;
  /** All of a person's. */
  removeOf(userId: UserId): Promise<void>;
  removeExpired(before: Date): Promise<number>;
}

export interface NewSession {
  /** SHA-256 hex of what the cookie holds. */
  readonly hash: string;
  readonly userId: UserId;
  readonly organizationId?: OrganizationId;
  readonly expiresAt: Date;
}

export interface LiveSession {
  readonly user: User;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The chosen organization, while the person is a member of it. */
  readonly membership?: Membership;
}

/** Clients that registered themselves (RFC 7591). */
export interface ClientRepository {
  /**
   * False when `mostUnused` registrations that nobody used are kept already. Of those, the oldest make room once they are
   * a quarter of an hour old; one that was ever used is never removed, since its client could not get in again.
   */
  register(client: RegisteredClient, mostUnused: number): Promise<boolean>;
  find(id: string): Promise<RegisteredClient | undefined>;
  markUsed(id: string, at: Date): Promise<void>;
}

export interface RegisteredClient {
  readonly id: string;
  /** JSON text. */
  readonly metadata: string;
  readonly createdAt: Date;
}
