import { SightlineError } from '../../../contract/core/index.ts';
import type { Grant } from '../../../contract/storage/index.ts';
import { moment, plainName, strangersName, confirmation, table } from '../../components.ts';
import { connectionsOf, type Connection } from '../../connections.ts';
import { html, type Renderable } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { paged } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import { snippets } from './key-words.ts';

const path = '/integrations/applications';

/** What people let in to act for them: everybody's for an admin, one's own for a member. */
export const applicationsPage = definePage({
  path,
  access: 'member',
  async get(visit, services) {
    const { role } = visit;
    const admin = role === 'admin';
    const { shown, links } = paged(connectionsOf(await applicationsOf(visit, services)), visit, path);
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
            'Allowed in',
            'Answers go to',
            'May',
            'Connected',
            'Last used',
            'Change',
          ],
          rows: shown.map((connection) => row(visit, connection)),
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
  path: `${path}/:id/revoke`,
  access: 'member',
  async get(visit, services) {
    const { id, clientName, user, grants } = await findConnection(visit, services);
    return confirmation(visit, {
      title: `Revoke ${plainName(clientName)}?`,
      text: html`It acts for <bdi>${user.email}</bdi> and is refused from the next request
        on${grants.length > 1 && ` with each of its ${grants.length} connections`}. To use it again, it has to be
        connected again.`,
      button: 'Revoke',
      action: `${path}/${id}/revoke`,
      back: path,
    });
  },
  async post(visit, _form, services) {
    const { organization, actor, role, user } = visit;
    const owner = role === 'admin' ? undefined : user.id;
    for (const { id } of (await findConnection(visit, services)).grants) {
      await services.people.revokeApplication(organization.id, id, actor, owner);
    }
    return { redirect: path };
  },
});

/** By any grant of it: what was connected meanwhile has another newest one. */
async function findConnection(visit: MemberVisit, services: PageServices): Promise<Connection> {
  const found = connectionsOf(await applicationsOf(visit, services)).find(({ grants }) =>
    grants.some(({ id }) => id === visit.params['id']),
  );
  if (found) return found;
  throw new SightlineError('not_found', 'This application is not connected any more.');
}

function row({ to, role }: MemberVisit, connection: Connection): readonly Renderable[] {
  const { id, clientName, user, redirectOrigin, machine = '', scopes, createdAt, lastUsedAt, grants } = connection;
  const rest = [
    html`${machine}${grants.length > 1 && html` <small>${grants.length} times</small>`}`,
    html`<bdi>${redirectOrigin}</bdi>`,
    scopes.map((scope) => html`<span class="tag">${scope}</span> `),
    moment(createdAt),
    lastUsedAt ? moment(lastUsedAt) : 'Never',
    html`<a class="button quiet small" href="${to(`${path}/${id}/revoke`)}"
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
