import { z } from 'zod';
import { SightlineError, type InvitationId } from '../../../contract/core/index.ts';
import type { Invitation, User } from '../../../contract/storage/index.ts';
import { field, moment, table } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { parseForm } from '../../forms.ts';
import { shownOnce } from '../../shown-once.ts';
import { html, type Html, type Renderable } from '../../html.ts';
import { deletePath } from '../account/deleted-organization.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { paged } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import type { Role } from '../../../contract/issuer/index.ts';

export const roleWords = { admin: 'Admin', member: 'Member' } as const satisfies Record<Role, string>;

export function about(id: InvitationId): string {
  return `invitation:${id}`;
}

type Member = Awaited<ReturnType<PageServices['people']['members']>>[number];

const mostInvitations = 200;

const inviteForm = z.object({
  email: z
    .string()
    .trim()
    .max(254, 'This is longer than an e-mail address can be.')
    // As accounts have them: an intranet's and other scripts' are addresses, too.
    .regex(/^[^\s@]+@[^\s@]+$/, 'This is not an e-mail address.'),
  role: z.enum(['member', 'admin'], 'Choose a role.'),
});

/** Everybody sees who belongs to the organization; an admin changes it, and invites by a POST here. */
export const membersPage = definePage({
  path: '/members',
  access: 'member',
  get: (visit, services) => membersView(visit, services, {}),

  async post(visit, form, services) {
    const { organization, role, actor } = visit;
    if (role !== 'admin') throw new SightlineError('forbidden', 'Only admins invite people.');
    const typed = { email: form.get('email') ?? '' };
    const read = parseForm(inviteForm, form);
    if (!read.ok)
      return { ...(await membersView(visit, services, { ...typed, problems: read.problems })), status: 400 };
    let made: Awaited<ReturnType<PageServices['people']['invite']>>;
    try {
      made = await services.people.invite({ organizationId: organization.id, ...read.values, actor });
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...(await membersView(visit, services, { ...typed, message })), ...rest };
    }
    shownOnce(services).keep(visit, about(made.invitation.id), made.token);
    return { redirect: `/members/invitations/${made.invitation.id}` };
  },
});

interface Typed {
  readonly email?: string;
  readonly problems?: Readonly<Record<string, string>>;
  readonly message?: Html;
}

async function membersView(visit: MemberVisit, { people }: PageServices, typed: Typed): Promise<View> {
  const { organization, role } = visit;
  const admin = role === 'admin';
  const [members, invitations] = await Promise.all([
    people.members(organization.id),
    admin ? people.invitations(organization.id) : [],
  ]);
  const { shown, links } = paged(members, visit, '/members');
  return {
    title: 'Members',
    body: html`${!admin && html`<p class="soft">Admins change roles and invite people.</p>`}
    ${table({
      label: 'Members',
      columns: ['Person', 'Address', 'Role', ...(admin ? ['Change'] : [])],
      rows: shown.map((member) => memberRow(visit, member)),
      empty: 'Nobody belongs to this organization.',
    })}
    ${links} ${admin && invitationSection(visit, invitations)} ${admin && inviteSection(visit, typed)}
    ${admin && html`<p><a href="${visit.to(deletePath)}">Delete this organization</a></p>`}`,
  };
}

function memberRow({ to, csrf, role: own, user: viewer }: MemberVisit, { user, role }: Member): readonly Renderable[] {
  const other = role === 'admin' ? 'member' : 'admin';
  const cells = [
    html`<bdi>${user.name}</bdi
      >${user.id === viewer.id && html` <span class="tag">you</span>`}${!user.enabled && html` <span class="tag">cannot sign in</span>`}`,
    html`<bdi>${user.email}</bdi>`,
    roleWords[role],
  ];
  if (own !== 'admin') return cells;
  const label = other === 'admin' ? 'Make admin' : 'Make member';
  return [
    ...cells,
    html`<form method="post" action="${to(`/members/${user.id}/role`)}" class="actions">
      ${csrf}
      <input type="hidden" name="role" value="${other}" />
      <button class="quiet small">${label}${nameFor(user)}</button>
      <a class="button quiet small" href="${to(`/members/${user.id}/remove`)}">Remove${nameFor(user)}</a>
    </form>`,
  ];
}

/** Heard, not seen: many rows have the same button. */
function nameFor({ email }: User): Html {
  return html`<span class="hidden">: ${email}</span>`;
}

function invitationSection({ to }: MemberVisit, invitations: readonly Invitation[]): Html {
  const shown = invitations.slice(0, mostInvitations);
  return html`<h2>Open invitations</h2>
    ${table({
      label: 'Open invitations',
      columns: ['Address', 'Role', 'Invited', 'Good until', 'Change'],
      rows: shown.map(({ id, email, role, createdAt, expiresAt }) => [
        html`<bdi>${email}</bdi>`,
        roleWords[role],
        moment(createdAt),
        moment(expiresAt),
        html`<a class="button quiet small" href="${to(`/members/invitations/${id}/revoke`)}"
          >Revoke<span class="hidden">: ${email}</span></a
        >`,
      ]),
      empty: 'No invitation is open.',
    })}
    ${invitations.length > shown.length && html`<p class="soft">The newest ${mostInvitations} of ${invitations.length} are shown.</p>`}`;
}

function inviteSection({ to, csrf }: MemberVisit, { email, problems, message }: Typed): Html {
  return html`<h2 id="invite">Invite somebody</h2>
    ${message}
    <form method="post" action="${to('/members')}" class="card">
      ${csrf}
      ${field({ name: 'email', label: 'E-mail address', type: 'email', value: email, problem: problems?.['email'], maxLength: 254 })}
      <fieldset>
        <legend>Role</legend>
        ${problems?.['role'] !== undefined && html`<small class="problem">${problems['role']}</small>`}
        <div class="choice">
          <input type="radio" id="role-member" name="role" value="member" checked /><label for="role-member"
            >Member <small>Connects applications of their own, reads incidents and chats, asks the agent.</small></label
          >
        </div>
        <div class="choice">
          <input type="radio" id="role-admin" name="role" value="admin" /><label for="role-admin"
            >Admin <small>Makes API keys as well, sees the ingest token, and decides who belongs here.</small></label
          >
        </div>
      </fieldset>
      <button>Make an invitation link</button>
    </form>`;
}
