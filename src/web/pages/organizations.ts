import { z } from 'zod';
import { isId, SightlineError } from '../../contract/core/index.ts';
import { requireForm } from '../forms.ts';
import { home, ownPath } from '../paths.ts';
import { html } from '../html.ts';
import { definePage } from '../page.ts';

const fields = z.object({ organization: z.string().max(64), return_to: z.string().optional() });

/** Which organization the pages show. */
export const organizationsPage = definePage({
  path: '/organizations',
  access: 'signed-in',

  async get({ user, session, search, to, csrf }, { people }) {
    const memberships = await people.memberships(user.id);
    if (memberships.length === 0) {
      return {
        title: 'No organization yet',
        body: html`<p>
          Your account (${user.email}) belongs to no organization. Ask an admin of yours for an invitation.
        </p>`,
      };
    }
    const returnTo = ownPath(search.get('return_to'));
    const chosen = session.membership?.organization.id;
    return {
      title: 'Choose an organization',
      body: html`<p>The pages show one organization at a time.</p>
        <form method="post" action="${to('/organizations')}">
          ${csrf} ${returnTo !== undefined && html`<input type="hidden" name="return_to" value="${returnTo}" />`}
          <ul class="plain">
            ${memberships.map(
              ({ organization, role }) =>
                html`<li>
                  <button
                    class="quiet wide"
                    name="organization"
                    value="${organization.id}"
                    ${organization.id === chosen && html` aria-current="true"`}
                  >
                    ${organization.name}<span class="tag">${role}</span
                    >${organization.id === chosen && html`<span class="tag">shown now</span>`}
                  </button>
                </li>`,
            )}
          </ul>
        </form>`,
    };
  },

  async post({ session }, form, { people }) {
    const { organization, return_to } = requireForm(fields, form);
    if (!isId('org', organization) || !(await people.chooseOrganization(session.token, organization))) {
      throw new SightlineError('forbidden', 'You are not a member of this organization.');
    }
    return { redirect: ownPath(return_to) ?? home };
  },
});
