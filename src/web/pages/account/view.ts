import type { Grant } from '../../../contract/storage/index.ts';
import { field, moment, plainName, strangersName } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { SignedInVisit, View } from '../../page.ts';
import { paged } from '../../paging.ts';
import { scopeWords } from '../../scope-words.ts';
import type { PageServices } from '../../services.ts';
import { newPassword } from '../password.ts';

export const accountPath = '/account';
export const changePasswordPath = '/account/password';
export const everywherePath = '/account/sign-out-everywhere';
export const revokeApplicationPath = '/account/applications/revoke';

/** @param message what was done, or what went wrong. */
export async function accountView(
  visit: SignedInVisit,
  { people, signIn }: Pick<PageServices, 'people' | 'signIn'>,
  message?: Html,
): Promise<View> {
  const { user, session, to, csrf } = visit;
  const { membership } = session;
  const all = membership ? await people.applications(membership.organization.id, user.id) : [];
  const applications = paged(all, visit, accountPath);
  return {
    title: 'Account',
    body: html`${message}
      <dl>
        <dt>Name</dt>
        <dd>${user.name}</dd>
        <dt>E-mail address</dt>
        <dd>${user.email}</dd>
        ${
          membership &&
          html`<dt>Organization</dt>
            <dd>
              ${membership.organization.name}, as ${membership.role} ·
              <a href="${to('/organizations')}">Choose another</a>
            </dd>`
        }
        <dt>Signed in</dt>
        <dd>${moment(session.createdAt)}, until ${moment(session.expiresAt)}</dd>
      </dl>
      ${membership && applicationsSection(visit, applications, membership.organization.name)}
      ${signIn.kind === 'password' && passwordSection(visit)}
      <section class="card">
        <h2>Sign out everywhere</h2>
        <p>Ends your sessions in every browser, this one too. Connected applications keep their access.</p>
        <form method="post" action="${to(everywherePath)}">
          ${csrf}<button class="danger">Sign out everywhere</button>
        </form>
      </section>`,
  };
}

function applicationsSection(
  { to, csrf }: SignedInVisit,
  { shown, links }: ReturnType<typeof paged<Grant>>,
  organization: string,
): Html {
  if (shown.length === 0) {
    return html`<section class="card">
      <h2>Connected applications</h2>
      <p>You have given no application access to ${organization}.</p>
    </section>`;
  }
  return html`<section class="card">
    <h2>Connected applications</h2>
    <p>What you allowed in ${organization}. Without access, an application fails with its next request.</p>
    <ul class="plain">
      ${shown.map(
        ({ id, clientName, redirectOrigin, scopes, createdAt, lastUsedAt }) =>
          html`<li class="entry">
            <div>
              <strong>${strangersName(clientName)}</strong> <span class="soft">${redirectOrigin}</span>
              <small>${scopes.map((scope) => scopeWords[scope].title).join(' · ')}</small>
              <small
                >Allowed ${moment(createdAt)},
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

function passwordSection({ to, csrf, user }: SignedInVisit): Html {
  return html`<section class="card">
    <h2>Change password</h2>
    <form method="post" action="${to(changePasswordPath)}">
      ${csrf}
      <input type="hidden" name="username" value="${user.email}" autocomplete="username" />
      ${field({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password', maxLength: 1_000 })}
      ${newPassword('next')}
      <button>Change password</button>
    </form>
  </section>`;
}
