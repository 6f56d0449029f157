import type { GrantId, InvitationId, OrganizationId, UserId } from '../../contract/core/index.ts';
import type { ExternalIdentity, ExternalTokenClaims, Role } from '../../contract/issuer/index.ts';
import type {
  Actor,
  Erased,
  Erasure,
  Grant,
  Invitation,
  LiveSession,
  Membership,
  OpenInvitation,
  User,
} from '../../contract/storage/index.ts';

/** Who may do what in a browser. Each change is in the audit log before its promise resolves. */
export interface People {
  /**
   * Rejects with `forbidden` in the same words and time for an unknown address, a wrong password and a disabled account;
   * `rate_limited` after too many failures from the address or network, which never locks out who shows the right password.
   */
  signInWithPassword(attempt: {
    readonly email: string;
    readonly password: string;
    /** The caller's network address. */
    readonly address: string;
  }): Promise<User>;
  /** `forbidden`, with a sentence for the person, where nothing lets them in. The token accepts its invitation too. */
  signInWithIdentity(identity: ExternalIdentity, invitationToken?: string): Promise<User>;
  /** The account and organization of an identity provider's token. `forbidden` where there is none. */
  admit(claims: Pick<ExternalTokenClaims, 'identity' | 'organization'>): Promise<Admission>;

  /** A browser is signed in: `token` is its cookie's value. Where the person has one organization it is chosen. */
  openSession(userId: UserId): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  session(token: string): Promise<LiveSession | undefined>;
  /** False where the person is no member. */
  chooseOrganization(token: string, organizationId: OrganizationId): Promise<boolean>;
  signOut(token: string): Promise<void>;
  signOutEverywhere(userId: UserId): Promise<void>;

  memberships(userId: UserId): Promise<readonly Membership[]>;
  /** How many grants of applications the person gave, in all their organizations. */
  countApplications(userId: UserId): Promise<number>;
  /** Ends what the person connected, in all their organizations: how many. */
  disconnectApplications(userId: UserId): Promise<number>;
  /** `forbidden` unless `current` is right. Ends all sessions. */
  changePassword(userId: UserId, current: string, next: string): Promise<void>;
  /** By the token of a link that an operator made; works once. */
  setPasswordByLink(token: string, next: string): Promise<User>;
  /** Whether the link still works, and whose it is. */
  passwordLink(token: string): Promise<User | undefined>;
  /** A token with which the person sets a password within an hour; the one before ends. `conflict` if disabled. */
  createPasswordLink(userId: UserId, actor: Actor): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  setEnabled(userId: UserId, enabled: boolean, actor: Actor): Promise<void>;
  /**
   * For who has left: ends sessions, applications, and the API keys and invitations they made, at once. In one organization the
   * membership ends, even the last admin's; in all the account is disabled. The caller knows that the person is one of the
   * organization's. `not_found` where there is no such account.
   */
  deactivatePerson(input: Leaver): Promise<void>;
  /**
   * The same for good, with what the person wrote (Erasure). `conflict` for the last admin. Their id stays in the audit, where
   * nothing tells any more whose it was.
   */
  deletePerson(input: Leaver & Pick<Erasure, 'chats'>): Promise<Erased>;
  /**
   * What is kept of a person, as lines of JSON: the account, and of each organization membership, applications, keys and chats.
   * With `audit` also what they did, for which the whole audit is read. `not_found` where there is no such account.
   */
  exportPerson(userId: UserId, and: { readonly audit: boolean; readonly actor: Actor }): AsyncIterable<string>;

  invite(input: {
    readonly organizationId: OrganizationId;
    readonly email: string;
    readonly role: Role;
    readonly actor: Actor;
  }): Promise<{ readonly invitation: Invitation; readonly token: string }>;
  invitations(organizationId: OrganizationId): Promise<readonly Invitation[]>;
  revokeInvitation(organizationId: OrganizationId, id: InvitationId, actor: Actor): Promise<void>;
  invitation(token: string): Promise<OpenInvitation | undefined>;
  /** `forbidden` where the account signed in is not the invited one; `not_found` when the invitation has ended. */
  acceptInvitation(
    token: string,
    as:
      | { readonly kind: 'existing'; readonly userId: UserId }
      | { readonly kind: 'password'; readonly name: string; readonly password: string },
  ): Promise<User>;

  members(organizationId: OrganizationId): Promise<readonly { readonly user: User; readonly role: Role }[]>;
  /** For the operator. A member gets another role only where one is named, like by `changeRole`. */
  addMember(
    organizationId: OrganizationId,
    userId: UserId,
    role: Role | undefined,
    actor: Actor,
  ): Promise<{ readonly role: Role; readonly before?: Role }>;
  /** `conflict` for the last admin. */
  changeRole(organizationId: OrganizationId, userId: UserId, role: Role, actor: Actor): Promise<void>;
  /** `conflict` for the last admin. The member's applications lose access with their next request. */
  removeMember(organizationId: OrganizationId, userId: UserId, actor: Actor): Promise<void>;

  /** Applications that people connected; of one person where `userId` is given. */
  applications(organizationId: OrganizationId, userId?: UserId): Promise<readonly Grant[]>;
  revokeApplication(organizationId: OrganizationId, id: GrantId, actor: Actor, userId?: UserId): Promise<void>;
}

export interface Leaver {
  readonly userId: UserId;
  /** All of them without. */
  readonly organizationId?: OrganizationId | undefined;
  readonly actor: Actor;
}

export interface Admission {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
}
