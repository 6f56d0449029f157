import { z } from 'zod';
import { isId, SightlineError, type UserId } from '../../../contract/core/index.ts';
import { roles } from '../../../contract/issuer/index.ts';
import type { User } from '../../../contract/storage/index.ts';
import { confirmation } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import type { PageServices } from '../../services.ts';

const roleForm = z.object({ role: z.enum(roles) });

export const rolePage = definePage({
  path: '/members/:id/role',
  access: 'admin',
  async post({ params, organization, actor }, form, { people }) {
    await people.changeRole(organization.id, userId(params['id']), requireForm(roleForm, form).role, actor);
    return { redirect: '/members' };
  },
});

export const removePage = definePage({
  path: '/members/:id/remove',
  access: 'admin',
  get: (visit, services) => removeView(visit, services),

  async post(visit, _form, services) {
    const { params, organization, actor } = visit;
    try {
      await services.people.removeMember(organization.id, userId(params['id']), actor);
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
  return confirmation(visit, {
    title: `Remove ${user.email}?`,
    text: html`<bdi>${user.name}</bdi> leaves <bdi>${visit.organization.name}</bdi> at once, and the applications that
      they connected end with their next request. Their chats stay.`,
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
