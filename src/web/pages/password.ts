import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import type { User } from '../../contract/storage/index.ts';
import { field } from '../components.ts';
import { refusal } from '../failure.ts';
import { requireForm } from '../forms.ts';
import { home } from '../paths.ts';
import { html, type Html } from '../html.ts';
import { definePage, type View, type Visit } from '../page.ts';

const path = '/password';
const token = z.string().min(1).max(200);
const fields = z.object({ token, password: z.string().max(1_000), applications: z.literal('disconnect').optional() });

/** Sets a password by a link that an operator made. Looking at it does not use it up. */
export const passwordPage = definePage({
  path,
  access: 'public',

  async get(visit, { people }) {
    const shown = token.safeParse(visit.search.get('token'));
    const user = shown.success ? await people.passwordLink(shown.data) : undefined;
    if (!shown.success || !user) throw ended();
    return passwordView(visit, { link: shown.data, user, connected: await people.countApplications(user.id) });
  },

  async post(visit, form, { people }) {
    const values = requireForm(fields, form);
    const owner = await people.passwordLink(values.token);
    if (!owner) throw ended();
    try {
      const user = await people.setPasswordByLink(values.token, values.password);
      if (values.applications !== undefined) await people.disconnectApplications(user.id);
      await visit.openSession(user);
    } catch (error) {
      const { message, ...rest } = refusal(error);
      const connected = await people.countApplications(owner.id);
      return { ...passwordView(visit, { link: values.token, user: owner, connected }, message), ...rest };
    }
    return { redirect: home };
  },
});

interface Linked {
  readonly link: string;
  readonly user: User;
  /** How many grants the person gave. */
  readonly connected: number;
}

function passwordView({ to, csrf }: Visit, { link, user: { email }, connected }: Linked, message?: Html): View {
  return {
    title: 'Set a password',
    body: html`${message}
      <p>For the account <strong>${email}</strong>. Browsers that are signed in to it now will be signed out.</p>
      <form method="post" action="${to(path)}">
        ${csrf}
        <input type="hidden" name="token" value="${link}" />
        <input type="hidden" name="username" value="${email}" autocomplete="username" />
        ${newPassword()} ${disconnectChoice(connected, true)}
        <button class="wide">Set password</button>
      </form>`,
    card: true,
  };
}

export function newPassword(name = 'password', label = 'New password'): Html {
  return field({
    name,
    label,
    type: 'password',
    autocomplete: 'new-password',
    hint: 'At least 10 characters. A few words in a row are good.',
    maxLength: 256,
  });
}

/** Somebody who knew the password before may have connected one. */
export function disconnectChoice(connected: number, checked: boolean): Html | undefined {
  if (connected === 0) return undefined;
  return html`<div class="choice">
    <input type="checkbox" id="applications" name="applications" value="disconnect" ${checked && html` checked`} />
    <label for="applications"
      >Also disconnect
      ${connected === 1 ? 'the application that is connected' : `all ${connected} connections of applications`}
      <small>They have to be connected again. Without this they keep their access.</small></label
    >
  </div>`;
}

function ended(): SightlineError {
  return new SightlineError('not_found', 'This link has been used, or its hour is over.', {
    hint: 'Ask the operator who gave it to you for another.',
  });
}
