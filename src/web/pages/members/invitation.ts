import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { Invitation } from '../../../contract/storage/index.ts';
import { copyable, moment, warning, confirmation } from '../../components.ts';
import { html } from '../../html.ts';
import { shownOnce } from '../../forms.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { about, roleWords } from './list.ts';

/** An invitation that was just made, with its link; later without. */
export const invitedPage = definePage({
  path: '/members/invitations/:id',
  access: 'admin',
  async get(visit, services) {
    const { id, email, role, expiresAt } = await findInvitation(visit, services);
    const token = shownOnce(services).take(visit, about(id));
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
            : html`${warning('Send this link to the person now: it is not shown again. Anybody with the link can join in their place.')}
              ${copyable('link', `${services.authUrl}/invitation?${query}`)}`
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
