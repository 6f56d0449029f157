import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import type { OpenInvitation, User } from '../../contract/storage/index.ts';
import { field } from '../components.ts';
import { refusal } from '../failure.ts';
import { requireForm } from '../forms.ts';
import { home, leadBack } from '../paths.ts';
import { html, type Html } from '../html.ts';
import { definePage, type View, type Visit } from '../page.ts';
import type { PageServices } from '../services.ts';
import { newPassword } from './password.ts';

const path = '/invitation';
const token = z.string().min(1).max(200);
const fields = z.object({
  token,
  name: z.string().max(200).optional(),
  password: z.string().max(1_000).optional(),
});

/** Accepts an invitation: as who is signed in, or with a new account. Looking at it does not use it up. */
export const invitationPage = definePage({
  path,
  access: 'public',

  async get(visit, services) {
    const shown = token.safeParse(visit.search.get('token'));
    const invitation = shown.success ? await services.people.invitation(shown.data) : undefined;
    if (!shown.success || !invitation) throw ended();
    return invitationView(visit, services, shown.data, invitation);
  },

  async post(visit, form, services) {
    const { people, signIn } = services;
    const values = requireForm(fields, form);
    const invitation = await people.invitation(values.token);
    if (!invitation) throw ended();
    const { name, password } = values;
    let user: User;
    try {
      if (visit.session) {
        user = await people.acceptInvitation(values.token, { kind: 'existing', userId: visit.session.user.id });
      } else if (signIn.kind === 'password' && name !== undefined && password !== undefined) {
        user = await people.acceptInvitation(values.token, { kind: 'password', name, password });
      } else {
        return { redirect: leadBack('/sign-in', here(values.token)) };
      }
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...invitationView(visit, services, values.token, invitation, { message, name }), ...rest };
    }
    if (visit.session) await people.chooseOrganization(visit.session.token, invitation.organizationId);
    else await visit.openSession(user);
    return { redirect: home };
  },
});

function invitationView(
  visit: Visit,
  { signIn }: PageServices,
  shown: string,
  invitation: OpenInvitation,
  typed: { readonly message?: Html; readonly name?: string | undefined } = {},
): View {
  const { organization, role, email, user } = invitation;
  const { session } = visit;
  const form = (content: Html) =>
    html`<form method="post" action="${visit.to(path)}">
      ${visit.csrf}
      <input type="hidden" name="token" value="${shown}" />
      ${content}
    </form>`;
  const signInLink = (label: string) =>
    html`<p><a class="button wide" href="${visit.to(leadBack('/sign-in', here(shown)))}">${label}</a></p>`;

  let how: Html;
  if (session && session.user.id !== user?.id) how = otherAccount(visit, session.user, shown, email);
  else if (session) how = form(html`<button class="wide">Join ${organization.name}</button>`);
  else if (signIn.kind === 'redirect') how = signInLink(`Sign in with ${signIn.name} to join`);
  else if (user) how = signInLink('Sign in to join');
  else {
    how = form(
      html`<input type="hidden" name="username" value="${email}" autocomplete="username" />
        ${field({ name: 'name', label: 'Your name', value: typed.name, autocomplete: 'name', maxLength: 100 })}
        ${newPassword('password', 'Choose a password')}
        <button class="wide">Join ${organization.name}</button>`,
    );
  }
  return {
    title: `Join ${organization.name}`,
    body: html`${typed.message}
      <p>
        <strong>${email}</strong> is invited to ${organization.name} as ${role === 'admin' ? 'an admin' : 'a member'}.
      </p>
      ${how}`,
    card: true,
  };
}

function otherAccount({ to, csrf }: Visit, { email }: User, shown: string, invited: string): Html {
  return html`<p>You are signed in as <strong>${email}</strong>. The invitation is for ${invited} alone.</p>
    <form method="post" action="${to('/sign-out')}">
      ${csrf}
      <input type="hidden" name="return_to" value="${here(shown)}" />
      <button class="wide">Sign out and go on as ${invited}</button>
    </form>`;
}

/** The token in the address of an invitation's page, as it comes back from the sign-in page. */
export function invitationToken(returnTo: string | undefined): string | undefined {
  const [page, query] = (returnTo ?? '').split('?', 2);
  return page === path ? (new URLSearchParams(query).get('token') ?? undefined) : undefined;
}

function here(shown: string): string {
  return `${path}?${new URLSearchParams({ token: shown }).toString()}`;
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This invitation has been used or taken back, or its time is over.', {
    hint: 'Ask an admin of the organization for another.',
  });
}
