import { foldCase, SightlineError, type IssuerHost, type OrganizationId } from '../../contract/core/index.ts';
import type { ExternalIdentity, Role } from '../../contract/issuer/index.ts';
import type { Membership, OpenInvitation, User } from '../../contract/storage/index.ts';
import type { Invitations } from './invitations.ts';
import type { Trail } from './trail.ts';

/**
 * Whose account an identity is. Issuer and subject together are the identity; an address only leads to an account where
 * the provider vouches for it, and then only
 * - to an account without password and without identity, as an operator makes for somebody who is to sign in elsewhere, or
 * - by the link of an invitation for that address, to an account that would not bring another identity's memberships along,
 *   and that the other identity then has no more: addresses are given to other people when somebody leaves.
 * Else there is a new account where the provider's memberships or an invitation let the person in, and a refusal where
 * nothing does.
 */
export interface Identities {
  /** The account with its memberships, at least one, made equal to what the provider says now unless that is partial. */
  account(identity: ExternalIdentity, invitationToken?: string): Promise<Account>;
}

export interface Account {
  readonly user: User;
  readonly memberships: readonly Membership[];
}

interface Provided {
  readonly organizationId: OrganizationId;
  readonly role: Role;
}

interface IdentitiesOptions extends Pick<IssuerHost, 'storage' | 'logger'> {
  readonly invitations: Pick<Invitations, 'invitation' | 'acceptInvitation'>;
  readonly trail: Trail;
}

const mostMemberships = 100;

export function createIdentities({ storage, invitations, trail, logger }: IdentitiesOptions): Identities {
  const { directory } = storage;
  const { people } = directory;

  /** What the provider says, of organizations that there are; of two roles the higher. */
  async function provided({ memberships, issuer }: ExternalIdentity): Promise<readonly Provided[]> {
    const roles = new Map<OrganizationId, Role>();
    for (const { organization: name, role } of memberships.slice(0, mostMemberships)) {
      const organization = await directory.findOrganization(name);
      if (organization === undefined) {
        logger.warn(
          { organization: name.slice(0, 200), issuer },
          'the identity provider names an organization that there is not',
        );
      } else if (role === 'admin' || !roles.has(organization.id)) {
        roles.set(organization.id, role);
      }
    }
    return Array.from(roles, ([organizationId, role]) => ({ organizationId, role }));
  }

  /** The invitation of the link, if it is for the address that the provider vouches for. */
  async function invitationFor(
    { email }: ExternalIdentity,
    token: string | undefined,
  ): Promise<OpenInvitation | undefined> {
    const invitation = token === undefined ? undefined : await invitations.invitation(token);
    if (invitation === undefined) return undefined;
    if (email !== undefined && foldCase(email.trim()) === foldCase(invitation.email)) return invitation;
    throw forbidden(`This invitation is for ${invitation.email}. Sign in with that account.`);
  }

  /** The account of the address, if the identity may have it. */
  async function linked(email: string, identity: ExternalIdentity, invited: boolean): Promise<User | undefined> {
    const found = await people.credentials(email);
    if (found === undefined) return undefined;
    const { user, hash } = found;
    const owned = await people.hasIdentity(user.id);
    const free = hash === undefined && !owned;
    const invitable = invited && (!owned || (await people.memberships(user.id)).length === 0);
    if (!free && !invitable) throw notConnected(user, identity);
    if (!user.enabled) throw disabled();
    try {
      await people.linkIdentity(user.id, identity.issuer, identity.subject, owned ? 'only' : 'first');
    } catch (error) {
      // Somebody else of this address was first.
      throw error instanceof SightlineError && error.code === 'conflict' ? notConnected(user, identity) : error;
    }
    return user;
  }

  function notConnected(user: User, { issuer }: ExternalIdentity): SightlineError {
    logger.warn({ userId: user.id, issuer }, 'an identity has the address of an account that is not its own');
    return forbidden(
      `There is an account for ${user.email} already, which is not connected with this sign-in. ` +
        'Ask an admin to remove it from the organization and to invite you.',
    );
  }

  async function created(email: string, { issuer, subject, name }: ExternalIdentity): Promise<User> {
    const shown = (name ?? '')
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, 200);
    return people.createWithIdentity({ email, name: shown === '' ? email : shown, issuer, subject });
  }

  async function find(identity: ExternalIdentity, wanted: readonly Provided[], invited: boolean): Promise<User> {
    const { issuer, subject, email } = identity;
    const known = await people.identity(issuer, subject);
    if (known !== undefined) return known;
    if (email === undefined) {
      throw forbidden(
        'Your identity provider does not vouch for an e-mail address, so no account can be found or made. ' +
          'Ask its administrator to verify yours, and to send it to Sightline as verified.',
      );
    }
    try {
      const found = await linked(email, identity, invited);
      if (found !== undefined) return found;
      const left = await people.leftFrom({ email, issuer, subject });
      if (!invited && wanted.every(({ organizationId }) => left.has(organizationId))) throw nothingLetsIn();
      return await created(email, identity);
    } catch (error) {
      // The person's other browser may have been first, and made the account that was in the way.
      const other = error instanceof SightlineError ? await people.identity(issuer, subject) : undefined;
      if (other !== undefined) return other;
      throw error;
    }
  }

  async function synchronize(
    user: User,
    wanted: readonly Provided[],
    { absent = [], issuer }: ExternalIdentity,
  ): Promise<readonly Membership[]> {
    const before = await people.memberships(user.id);
    try {
      await people.syncMemberships(user.id, wanted, absent.length > 0 ? 'take-nothing' : undefined);
    } catch (error) {
      if (!(error instanceof SightlineError) || error.code !== 'conflict' || absent.length === 0) throw error;
      logger.warn(
        { userId: user.id, issuer, absent },
        'a token lacks claims that memberships come from, and is refused',
      );
      throw forbidden(
        `The token lacks ${absent.join(', ')}, which your membership comes from. Nothing was changed. ` +
          'Have the identity provider put it into the tokens of this client.',
      );
    }
    const after = await people.memberships(user.id);
    const roleIn = (list: readonly Membership[], id: OrganizationId) =>
      list.find(({ organization }) => organization.id === id)?.role;
    for (const { organization, role } of after) {
      const earlier = roleIn(before, organization.id);
      if (earlier === role) continue;
      const event = earlier === undefined ? 'person.joined' : 'member.role_changed';
      await trail.record(organization.id, { event, subject: byProvider, target: user.id });
    }
    for (const { organization } of before) {
      if (roleIn(after, organization.id) !== undefined) continue;
      await trail.record(organization.id, { event: 'member.removed', subject: byProvider, target: user.id });
    }
    return after;
  }

  return {
    async account(identity, invitationToken) {
      const wanted = await provided(identity);
      const invitation = await invitationFor(identity, invitationToken);
      const user = await find(identity, wanted, invitation !== undefined);
      if (!user.enabled) throw disabled();
      if (invitation !== undefined && invitationToken !== undefined) {
        await invitations.acceptInvitation(invitationToken, { kind: 'existing', userId: user.id });
      }
      const standing = identity.partial === true ? await people.memberships(user.id) : [];
      const memberships = standing.length > 0 ? standing : await synchronize(user, wanted, identity);
      if (memberships.length === 0) throw nothingLetsIn();
      return { user, memberships };
    },
  };
}

const byProvider = 'identity-provider';

function nothingLetsIn(): SightlineError {
  return forbidden(
    'You are signed in at your identity provider, but no organization here lets you in. ' +
      'Ask an admin to invite you; if you were invited, open the link of the invitation.',
  );
}

function disabled(): SightlineError {
  return forbidden('This account is disabled. Ask your operator.');
}

function forbidden(message: string): SightlineError {
  return new SightlineError('forbidden', message);
}
