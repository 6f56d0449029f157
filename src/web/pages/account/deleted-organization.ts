import { z } from 'zod';
import { foldCase, isId, SightlineError } from '../../../contract/core/index.ts';
import type { DeletedMembership } from '../../../contract/storage/index.ts';
import { confirmation, field, moment } from '../../components.ts';
import { requireForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type SignedInVisit, type View } from '../../page.ts';

export const deletePath = '/organization/delete';
const restorePath = '/organizations/restore';

const deleteFields = z.object({ name: z.string().max(400) });

export const deleteOrganizationPage = definePage({
  path: deletePath,
  access: 'admin',
  get: (visit) => deleteView(visit),

  async post(visit, form, { organizations }) {
    const { organization, actor } = visit;
    const { name } = requireForm(deleteFields, form);
    if (foldCase(name.trim()) !== foldCase(organization.name)) {
      return { ...deleteView(visit, 'This is not its name.'), status: 400 };
    }
    await organizations.remove(organization.id, actor);
    return { redirect: '/organizations' };
  },
});

function deleteView(visit: MemberVisit, problem?: string): View {
  const { name } = visit.organization;
  return confirmation(visit, {
    title: `Delete ${name}?`,
    text: html`From now on nobody gets in: members, API keys, connected applications, senders of telemetry and of
    alerts. For some time an admin can restore it on the page Organizations, as it was. Then all it has is removed, with
    its telemetry, and what stays is the audit, without names.`,
    fields: field({ name: 'name', label: `Type ${name} to confirm`, maxLength: 400, autocomplete: 'off', problem }),
    button: 'Delete organization',
    action: deletePath,
    back: '/members',
  });
}

const restoreFields = z.object({ organization: z.string().max(64) });

export const restoreOrganizationPage = definePage({
  path: restorePath,
  access: 'signed-in',
  async post({ user, actor }, form, { storage, organizations }) {
    const { organization } = requireForm(restoreFields, form);
    const found = (await storage.directory.deletedOrganizations.of(user.id)).find(({ id }) => id === organization);
    if (found?.role !== 'admin' || !isId('org', organization)) {
      throw new SightlineError('forbidden', 'You are no admin of such an organization.');
    }
    await organizations.restore(organization, actor);
    return { redirect: '/organizations' };
  },
});

/** Tells members what was deleted, and admins how to have it back. */
export function deletedSection({ to, csrf }: SignedInVisit, deleted: readonly DeletedMembership[]): Html | undefined {
  if (deleted.length === 0) return undefined;
  return html`<h2>Deleted</h2>
    <ul class="plain">
      ${deleted.map(
        ({ id, name, role, purgeAt }) =>
          html`<li class="entry">
            <div>
              <strong><bdi>${name}</bdi></strong>
              <small
                >Can be restored ${purgeAt && html`until ${moment(purgeAt)}`}, by its admins; then it is removed.</small
              >
            </div>
            ${
              role === 'admin' &&
              html`<form method="post" action="${to(restorePath)}">
                ${csrf}<input type="hidden" name="organization" value="${id}" />
                <button class="quiet small">Restore<span class="hidden"> ${name}</span></button>
              </form>`
            }
          </li>`,
      )}
    </ul>`;
}
