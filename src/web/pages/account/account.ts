import { z } from 'zod';
import { isId, SightlineError } from '../../../contract/core/index.ts';
import { doneNotice, facts, field, moment, plainName, strangersName } from '../../components.ts';
import { type Connection, connectionsOf, scopeWords } from '../../connections.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { definePage, type SignedInVisit, type View } from '../../page.ts';
import { html, type Html } from '../../html.ts';
import { paged, home, ownPath } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import { disconnectChoice, newPassword } from '../password.ts';
import { deletedSection } from './deleted-organization.ts';
import { dataSection, leavingPages } from './leaving.ts';

const fields = z.object({ organization: z.string().max(64), return_to: z.string().optional() });

export const organizationsPage = definePage({
  path: '/organizations',
  access: 'signed-in',

  async get(visit, { people, storage }) {
    const { user, session, search, to, csrf } = visit;
    const memberships = await people.memberships(user.id);
    const deleted = deletedSection(visit, await storage.directory.deletedOrganizations.of(user.id));
    if (memberships.length === 0) {
      return {
        title: 'No organization yet',
        body: html`<p>
            Your account (${user.email}) belongs to no organization. Ask an admin of yours for an invitation.
          </p>
          ${deleted}`,
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
        </form>
        ${deleted}`,
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

const accountPath = '/account';
const changePasswordPath = '/account/password';
const everywherePath = '/account/sign-out-everywhere';
const revokeApplicationPath = '/account/applications/revoke';

/** @param message what was done, or what went wrong. */
async function accountView(
  visit: SignedInVisit,
  { people, signIn }: Pick<PageServices, 'people' | 'signIn'>,
  message: Html | false,
): Promise<View> {
  const { user, session, to, csrf } = visit;
  const { membership } = session;
  const all = membership ? await people.applications(membership.organization.id, user.id) : [];
  const applications = paged(connectionsOf(all), visit, accountPath);
  return {
    title: 'Account',
    body: html`${message}
      ${facts([
        ['Name', user.name],
        ['E-mail address', user.email],
        [
          'Organization',
          membership &&
            html`${membership.organization.name}, as ${membership.role} ·
              <a href="${to('/organizations')}">Choose another</a>`,
        ],
        ['Signed in', html`${moment(session.createdAt)}, until ${moment(session.expiresAt)}`],
      ])}
      ${membership && applicationsSection(visit, applications, membership.organization.name)}
      ${signIn.kind === 'password' && passwordSection(visit, await people.countApplications(user.id))}
      <section class="card">
        <h2>Sign out everywhere</h2>
        <p>Ends your sessions in every browser, this one too. Connected applications keep their access.</p>
        <form method="post" action="${to(everywherePath)}">
          ${csrf}<button class="danger">Sign out everywhere</button>
        </form>
      </section>
      ${dataSection(visit)}`,
  };
}

function applicationsSection(
  { to, csrf }: SignedInVisit,
  { shown, links }: ReturnType<typeof paged<Connection>>,
  organization: string,
): Html {
  const heading = html`<h2>Connected applications</h2>`;
  if (shown.length === 0) {
    return html`<section class="card">
      ${heading}
      <p>You have given no application access to ${organization}.</p>
    </section>`;
  }
  return html`<section class="card">
    ${heading}
    <p>What you allowed in ${organization}. Without access, an application fails with its next request.</p>
    <ul class="plain">
      ${shown.map(
        ({ id, clientName, redirectOrigin, machine, scopes, createdAt, lastUsedAt, grants }) =>
          html`<li class="entry">
            <div>
              <strong>${strangersName(clientName)}</strong> <span class="soft">${redirectOrigin}</span>
              <small>${scopes.map((scope) => scopeWords[scope].title).join(' · ')}</small>
              <small
                >Allowed
                ${grants.length > 1 && `${grants.length} times, last `}${machine !== undefined && `in ${machine}, `}${moment(createdAt)},
                ${lastUsedAt ? html`last used ${moment(lastUsedAt)}` : 'never used'}</small
              >
            </div>
            <form method="post" action="${to(revokeApplicationPath)}">
              ${csrf}<input type="hidden" name="grant" value="${id}" />
              <button class="danger small" aria-label="Revoke the access of ${plainName(clientName)}">Revoke</button>
            </form>
          </li>`,
      )}
    </ul>
    ${links}
  </section>`;
}

function passwordSection({ to, csrf, user }: SignedInVisit, connected: number): Html {
  return html`<section class="card">
    <h2>Change password</h2>
    <form method="post" action="${to(changePasswordPath)}">
      ${csrf}
      <input type="hidden" name="username" value="${user.email}" autocomplete="username" />
      ${field({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password', maxLength: 1_000 })}
      ${newPassword('next')} ${disconnectChoice(connected, false)}
      <button>Change password</button>
    </form>
  </section>`;
}

const done = {
  password: 'The password was changed, and every other browser was signed out.',
  application: 'The application has no access any more.',
};

const accountPage = definePage({
  path: accountPath,
  access: 'signed-in',
  get: (visit, services) => accountView(visit, services, doneNotice(visit, done)),
});

const passwordFields = z.object({
  current: z.string().max(1_000),
  next: z.string().max(1_000),
  applications: z.literal('disconnect').optional(),
});

const changePasswordPage = definePage({
  path: changePasswordPath,
  access: 'signed-in',
  async post(visit, form, services) {
    const { current, next, applications } = requireForm(passwordFields, form);
    try {
      await services.people.changePassword(visit.user.id, current, next);
      if (applications !== undefined) await services.people.disconnectApplications(visit.user.id);
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...(await accountView(visit, services, message)), ...rest };
    }
    // The change has ended every session; this browser goes on under a new one.
    await visit.openSession(visit.user);
    return { redirect: `${accountPath}?done=password` };
  },
});

const signOutEverywherePage = definePage({
  path: everywherePath,
  access: 'signed-in',
  async post({ user, closeSession }, _form, { people }) {
    await people.signOutEverywhere(user.id);
    await closeSession();
    return { redirect: '/sign-in' };
  },
});

const applicationFields = z.object({ grant: z.string().max(64) });

/** One of the person's own. */
const revokeOwnApplicationPage = definePage({
  path: revokeApplicationPath,
  access: 'member',
  async post({ organization, user, actor }, form, { people }) {
    const { grant } = requireForm(applicationFields, form);
    const connections = connectionsOf(await people.applications(organization.id, user.id));
    const found = connections.find(({ grants }) => grants.some(({ id }) => id === grant));
    if (found === undefined) throw new SightlineError('not_found', 'There is no such application.');
    for (const { id } of found.grants) await people.revokeApplication(organization.id, id, actor, user.id);
    return { redirect: `${accountPath}?done=application` };
  },
});

export const accountPages = [
  accountPage,
  changePasswordPage,
  signOutEverywherePage,
  revokeOwnApplicationPage,
  ...leavingPages,
] as const;
