import { z } from 'zod';
import { foldCase } from '../../../contract/core/index.ts';
import { confirmation, field } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type SignedInVisit, type View } from '../../page.ts';

const dataPath = '/account/data';
const deletePath = '/account/delete';

/** What a person may take along, and the way out. */
export function dataSection({ to, csrf }: SignedInVisit): Html {
  return html`<section class="card">
    <h2>Your data</h2>
    <p>What is kept of you, as lines of JSON: account, memberships, applications, keys you made, and chats.</p>
    <form method="post" action="${to(dataPath)}" class="actions">
      ${csrf}<button class="quiet">Download</button>
      <a class="button quiet" href="${to(deletePath)}">Delete account</a>
    </form>
  </section>`;
}

const dataPage = definePage({
  path: dataPath,
  access: 'signed-in',
  post: ({ user, actor }, _form, { people }) => ({
    file: 'sightline-account.jsonl',
    lines: people.exportPerson(user.id, { audit: false, actor }),
  }),
});

const fields = z.object({ email: z.string().max(320), chats: z.literal('keep').optional() });

const deletePage = definePage({
  path: deletePath,
  access: 'signed-in',
  get: (visit) => deleteView(visit),

  async post(visit, form, { people }) {
    const { user, actor } = visit;
    const { email, chats = 'delete' } = requireForm(fields, form);
    if (foldCase(email.trim()) !== foldCase(user.email)) {
      return { ...deleteView(visit, 'This is not the address of this account.'), status: 400 };
    }
    try {
      await people.deletePerson({ userId: user.id, chats, actor });
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...deleteView(visit, undefined, message), ...rest };
    }
    await visit.closeSession();
    return { redirect: '/sign-in' };
  },
});

function deleteView(visit: SignedInVisit, problem?: string, message?: Html): View {
  const view = confirmation(visit, {
    title: 'Delete your account?',
    text: html`At once and for good, in all your organizations: you are signed out, applications you connected and API
    keys you made stop working, and your name goes from what you did. Incidents stay, and in the audit an id that nobody
    can trace to you. Download your data before.`,
    fields: html`<div class="choice">
        <input type="checkbox" id="chats" name="chats" value="keep" /><label for="chats"
          >Leave my chats to the organization <small>Without my name. Else they are deleted, too.</small></label
        >
      </div>
      ${field({ name: 'email', label: `Type ${visit.user.email} to confirm`, maxLength: 320, autocomplete: 'off', problem })}`,
    button: 'Delete account',
    action: deletePath,
    back: '/account',
  });
  return message === undefined ? view : { ...view, body: html`${message}${view.body}` };
}

export const leavingPages = [dataPage, deletePage] as const;
