import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { Grant } from '../../../contract/storage/index.ts';
import { moment, plainName, strangersName, confirmation, table } from '../../components.ts';
import { html, type Renderable } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { paged } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import { snippets } from './key-words.ts';

/** What people let in to act for them: everybody's for an admin, one's own for a member. */
export const applicationsPage = definePage({
  path: '/integrations/applications',
  access: 'member',
  async get(visit, services) {
    const { role } = visit;
    const admin = role === 'admin';
    const { shown, links } = paged(await applicationsOf(visit, services), visit, '/integrations/applications');
    // What runs unattended has an API key; it has no person to let it in.
    const clients = services.clients.filter(({ name }) => name !== 'ci');
    return {
      title: 'Connected applications',
      body: html`<p>
          ${admin ? 'Editors, agents and other programs that people of this organization let in.' : 'Editors, agents and other programs that you let in.'}
          Each acts for its person, and may do no more than they allowed.
        </p>
        ${table({
          label: 'Connected applications',
          columns: [
            'Application',
            ...(admin ? ['Person'] : []),
            'Answers go to',
            'May',
            'Connected',
            'Last used',
            'Change',
          ],
          rows: shown.map((grant) => row(visit, grant)),
          empty: 'No application is connected yet.',
        })}
        ${links}
        <h2>Connect one</h2>
        <p>Add the address to your client. A browser opens, and you decide what the client may do.</p>
        ${snippets(clients, { url: services.resource, tokenUrl: services.tokenUrl ?? '' })}`,
    };
  },
});

export const revokeApplicationPage = definePage({
  path: '/integrations/applications/:id/revoke',
  access: 'member',
  async get(visit, services) {
    const grant = (await applicationsOf(visit, services)).find(({ id }) => id === visit.params['id']);
    if (grant === undefined) throw notConnected();
    return confirmation(visit, {
      title: `Revoke ${plainName(grant.clientName)}?`,
      text: html`It acts for <bdi>${grant.user.email}</bdi> and is refused from the next request on. To use it again, it
        has to be connected again.`,
      button: 'Revoke',
      action: `/integrations/applications/${grant.id}/revoke`,
      back: '/integrations/applications',
    });
  },
  async post({ params, organization, actor, role, user }, _form, { people }) {
    const id = params['id'] ?? '';
    if (!isId('gra', id)) throw notConnected();
    await people.revokeApplication(organization.id, id, actor, role === 'admin' ? undefined : user.id);
    return { redirect: '/integrations/applications' };
  },
});

function row({ to, role }: MemberVisit, grant: Grant): readonly Renderable[] {
  const { id, clientName, user, redirectOrigin, scopes, createdAt, lastUsedAt } = grant;
  const rest = [
    html`<bdi>${redirectOrigin}</bdi>`,
    scopes.map((scope) => html`<span class="tag">${scope}</span> `),
    moment(createdAt),
    lastUsedAt ? moment(lastUsedAt) : 'Never',
    html`<a class="button quiet small" href="${to(`/integrations/applications/${id}/revoke`)}"
      >Revoke<span class="hidden">: ${plainName(clientName)}, ${user.email}</span></a
    >`,
  ];
  const application = strangersName(clientName);
  return role === 'admin' ? [application, html`<bdi>${user.email}</bdi>`, ...rest] : [application, ...rest];
}

function applicationsOf(
  { organization, role, user }: MemberVisit,
  { people }: PageServices,
): Promise<readonly Grant[]> {
  return people.applications(organization.id, role === 'admin' ? undefined : user.id);
}

function notConnected(): SightlineError {
  return new SightlineError('not_found', 'This application is not connected any more.');
}
