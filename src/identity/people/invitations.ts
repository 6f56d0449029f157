import {
  foldCase,
  generateSecret,
  hashSecret,
  newId,
  SightlineError,
  type IssuerHost,
} from '../../contract/core/index.ts';
import type { OpenInvitation } from '../../contract/storage/index.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import type { People } from './people.ts';
import type { Trail } from './trail.ts';

/** Links by which an admin lets a person in, open for seven days and for one acceptance. */
export type Invitations = Pick<
  People,
  'invite' | 'invitations' | 'revokeInvitation' | 'invitation' | 'acceptInvitation'
>;

const lifeMs = 7 * 86_400_000;
const longestEmail = 254;
const longestName = 200;
const prefix = 'invt';

interface InvitationsOptions extends Pick<IssuerHost, 'storage' | 'now'> {
  readonly passwords: Passwords;
  readonly trail: Trail;
}

export function createInvitations({ storage, passwords, trail, now }: InvitationsOptions): Invitations {
  const { directory } = storage;
  const { people } = directory;

  const find = async (token: string): Promise<OpenInvitation | undefined> =>
    token.startsWith(`${prefix}_`) && token.length < 100 ? people.invitation(hashSecret(token)) : undefined;

  return {
    invitation: find,

    async invite({ organizationId, email, role, actor }) {
      const address = email.trim();
      if (address.length > longestEmail || !/^[^\s@]+@[^\s@]+$/.test(address)) {
        throw new SightlineError('invalid_argument', 'That is no e-mail address.');
      }
      const id = newId('invt');
      const token = generateSecret(prefix);
      const invitation = await trail.during(
        organizationId,
        { event: 'person.invited', subject: actor.id, target: id },
        () =>
          storage.workspace(organizationId).invitations.create({
            id,
            email: address,
            role,
            hash: hashSecret(token),
            createdBy: actor.id,
            expiresAt: new Date(now().getTime() + lifeMs),
          }),
      );
      return { invitation, token };
    },

    invitations: (organizationId) => storage.workspace(organizationId).invitations.list(),

    async revokeInvitation(organizationId, id, actor) {
      await trail.during(organizationId, { event: 'invitation.revoked', subject: actor.id, target: id }, async () => {
        if (!(await storage.workspace(organizationId).invitations.revoke(id))) throw ended();
      });
    },

    async acceptInvitation(token, as) {
      const invitation = await find(token);
      if (invitation === undefined) throw ended();
      const hash = hashSecret(token);
      let user;
      if (as.kind === 'existing') {
        const account = await directory.findUser(as.userId);
        if (account === undefined || foldCase(account.email) !== foldCase(invitation.email)) {
          throw new SightlineError(
            'forbidden',
            `This invitation is for ${invitation.email}. Sign in with that account.`,
          );
        }
        user = await people.acceptInvitation(hash, as);
      } else {
        // Who invites has the link too, so that it must not set the password of an account that is somebody's already.
        if (invitation.user !== undefined) {
          throw new SightlineError('forbidden', `${invitation.email} has an account. Sign in with it to accept.`);
        }
        const name = as.name.trim();
        if (name === '' || name.length > longestName || /\p{Cc}/u.test(name)) {
          throw new SightlineError('invalid_argument', `A name has 1 to ${longestName} characters.`);
        }
        checkPassword(as.password, invitation.email);
        const passwordHash = await passwords.hash(as.password, invitation.id);
        user = await people.acceptInvitation(hash, { kind: 'password', name, hash: passwordHash });
      }
      if (user === undefined) throw ended();
      await trail.record(invitation.organizationId, {
        event: 'person.joined',
        subject: user.id,
        target: invitation.id,
      });
      return user;
    },
  };
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This invitation has ended. Ask for another one.');
}
