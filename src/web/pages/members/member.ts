import { z } from 'zod';
import { isId, SightlineError, type UserId } from '../../../contract/core/index.ts';
import { roles } from '../../../contract/issuer/index.ts';
import type { User, Invitation } from '../../../contract/storage/index.ts';
import { confirmation, copyable, moment, warning } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { copiedForm, shownMinutes, shownOnce } from '../../shown-once.ts';
import { html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { about, roleWords } from './list.ts';

const roleForm = z.object({ role: z.enum(roles) });

export const rolePage = definePage({
  path: '/members/:id/role',
  access: 'admin',
  async post({ params, organization, actor }, form, { people }) {
    await people.changeRole(organization.id, userId(params['id']), requireForm(roleForm, form).role, actor);
    return { redirect: '/members' };
  },
});

const removeForm = z.object({ data: z.literal('delete').optional() });

export const removePage = definePage({
  path: '/members/:id/remove',
  access: 'admin',
  get: (visit, services) => removeView(visit, services),

  async post(visit, form, services) {
    const { organization, actor } = visit;
    const { id } = await findMember(visit, services);
    try {
      if (requireForm(removeForm, form).data === 'delete') {
        await services.people.deletePerson({ userId: id, organizationId: organization.id, chats: 'delete', actor });
      } else await services.people.removeMember(organization.id, id, actor);
    } catch (error) {
      if (!(error instanceof SightlineError) || error.code !== 'conflict') throw error;
      return removeView(visit, services, refusal(error));
    }
    return { redirect: '/members' };
  },
});

async function removeView(
  visit: MemberVisit,
  services: PageServices,
  problem?: ReturnType<typeof refusal>,
): Promise<View> {
  const user = await findMember(visit, services);
  const keys = (await services.keys.list(visit.organization.id)).filter(({ createdBy }) => createdBy === user.id);
  return confirmation(visit, {
    title: `Remove ${user.email}?`,
    text: html`<bdi>${user.name}</bdi> leaves <bdi>${visit.organization.name}</bdi> at once, and the applications that
      they connected end with their next request. Their chats
      stay${keys.length > 0 && html`, and so do the API keys that they made: ${keys.length}`}.`,
    fields: html`<div class="choice">
      <input type="checkbox" id="data" name="data" value="delete" /><label for="data"
        >Delete what is theirs
        <small
          >For good: their chats, the API keys they made, their name on what they did here, and the account where no
          other organization has it. Incidents stay, and in the audit an id.</small
        ></label
      >
    </div>`,
    button: 'Remove',
    action: `/members/${user.id}/remove`,
    back: '/members',
    ...(problem && { problem }),
  });
}

async function findMember({ params, organization }: MemberVisit, { people }: PageServices): Promise<User> {
  const id = userId(params['id']);
  const found = (await people.members(organization.id)).find(({ user }) => user.id === id);
  if (found) return found.user;
  throw notMember();
}

function userId(text: string | undefined): UserId {
  if (text !== undefined && isId('usr', text)) return text;
  throw notMember();
}

function notMember(): SightlineError {
  return new SightlineError('not_found', 'This person is not a member.');
}

/** An invitation that was just made, with its link; later without. */
export const invitedPage = definePage({
  path: '/members/invitations/:id',
  access: 'admin',
  async get(visit, services) {
    const { id, email, role, expiresAt } = await findInvitation(visit, services);
    const token = shownOnce(services).read(visit, about(id));
    const query = new URLSearchParams({ token: token ?? '' }).toString();
    return {
      title: `Invitation for ${email}`,
      body: html`<p>As ${roleWords[role].toLowerCase()}, good until ${moment(expiresAt)}.</p>
        ${
          token === undefined
            ? html`<p>
                The link was shown when it was made, and is not kept. To have a new one, invite the person again; the
                one before ends.
              </p>`
            : html`${warning(`Send this link to the person now: this page shows it for ${shownMinutes} minutes. Anybody with the link can join in their place.`)}
              ${copyable('link', `${services.authUrl}/invitation?${query}`)}
              ${copiedForm(visit, about(id), `/members/invitations/${id}`)}`
        }
        <p><a href="${visit.to('/members')}">All members</a></p>`,
    };
  },
});

export const revokeInvitationPage = definePage({
  path: '/members/invitations/:id/revoke',
  access: 'admin',
  async get(visit, services) {
    const { id, email } = await findInvitation(visit, services);
    return confirmation(visit, {
      title: `Revoke the invitation for ${email}?`,
      text: 'Its link stops working at once.',
      button: 'Revoke',
      action: `/members/invitations/${id}/revoke`,
      back: '/members',
    });
  },
  async post({ params, organization, actor }, _form, { people }) {
    const id = params['id'] ?? '';
    if (!isId('invt', id)) throw ended();
    await people.revokeInvitation(organization.id, id, actor);
    return { redirect: '/members' };
  },
});

async function findInvitation({ params, organization }: MemberVisit, { people }: PageServices): Promise<Invitation> {
  const found = (await people.invitations(organization.id)).find(({ id }) => id === params['id']);
  if (found) return found;
  throw ended();
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This invitation is not open any more.');
}
