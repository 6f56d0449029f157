import type { ApiKey } from '../../../contract/storage/index.ts';
import { copyable, facts, moment, notice, warning, confirmation } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { shownOnce } from '../../forms.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { findKey, about, keyScopeWords, snippets } from './key-words.ts';

export const rotatePage = definePage({
  path: '/integrations/api-keys/:id/rotate',
  access: 'admin',
  async post(visit, _form, services) {
    const { id } = await findKey(visit.workspace, visit.params['id']);
    const { clientSecret } = await services.keys.rotate(id, visit.actor);
    shownOnce(services).keep(visit, about(id), clientSecret);
    return { redirect: `/integrations/api-keys/${id}` };
  },
});

export const retirePage = definePage({
  path: '/integrations/api-keys/:id/retire',
  access: 'admin',
  async get(visit) {
    const { id, name, secrets } = await findKey(visit.workspace, visit.params['id']);
    const path = `/integrations/api-keys/${id}`;
    if (secrets.length < 2) return { redirect: path };
    return confirmation(visit, {
      title: `Retire the older secret of “${name}”?`,
      text: 'Clients with the older secret are refused from the next request on. The newer one goes on working.',
      button: 'Retire the older secret',
      action: `${path}/retire`,
      back: path,
    });
  },
  async post({ workspace, params, actor }, _form, { keys }) {
    const { id } = await findKey(workspace, params['id']);
    await keys.retire(id, actor);
    return { redirect: `/integrations/api-keys/${id}?done=retired` };
  },
});

export const revokePage = definePage({
  path: '/integrations/api-keys/:id/revoke',
  access: 'admin',
  async get(visit) {
    const { id, name } = await findKey(visit.workspace, visit.params['id']);
    return confirmation(visit, {
      title: `Revoke “${name}”?`,
      text: html`<code>${id}</code> and every secret of it are deleted. Clients with the key are refused from the next
        request on. This cannot be undone.`,
      button: 'Revoke the key',
      action: `/integrations/api-keys/${id}/revoke`,
      back: `/integrations/api-keys/${id}`,
    });
  },
  async post({ workspace, params, actor }, _form, { keys }) {
    const { id } = await findKey(workspace, params['id']);
    await keys.revoke(id, actor);
    return { redirect: '/integrations/api-keys?done=revoked' };
  },
});

/** One key; right after a secret was made also that, this once. */
export const keyPage = definePage({
  path: '/integrations/api-keys/:id',
  access: 'admin',
  async get(visit, services) {
    const key = await findKey(visit.workspace, visit.params['id']);
    const secret = shownOnce(services).take(visit, about(key.id));
    const { clients, resource, tokenUrl } = services;
    return {
      title: key.name,
      body: html`${visit.search.get('done') === 'retired' && notice('The older secret is deleted. Its tokens are refused from now on.')}
        ${secret !== undefined && secretSection(key, secret)} ${keyFacts(key)} ${changes(visit, key)}
        ${
          tokenUrl !== undefined &&
          html`<h2>Use it</h2>
            ${secret === undefined && html`<p class="soft">The secret is not kept here. The configurations read it from <code>SIGHTLINE_CLIENT_SECRET</code>.</p>`}
            ${snippets(clients, {
              url: resource,
              tokenUrl,
              key: { clientId: key.id, ...(secret !== undefined && { clientSecret: secret }) },
            })}`
        }
        <p><a href="${visit.to('/integrations/api-keys')}">All API keys</a></p>`,
    };
  },
});

function secretSection(key: ApiKey, secret: string): Html {
  return html`${warning('Copy the secret now: it is not shown again, and nobody can look it up.')}
    <div class="card whole">
      <h2>Client id</h2>
      ${copyable('client-id', key.id)}
      <h2>Client secret</h2>
      ${copyable('client-secret', secret)}
    </div>`;
}

function keyFacts({ id, scopes, createdAt, lastUsedAt, secrets }: ApiKey): Html {
  return facts([
    ['Client id', html`<code>${id}</code>`],
    ['May', scopes.map((scope) => keyScopeWords[scope].title).join(', ')],
    ['Created', moment(createdAt)],
    ['Last used', lastUsedAt ? moment(lastUsedAt) : 'Never'],
    ['Secrets', secrets.map((secret, index) => html`${index > 0 && ', '}made ${moment(secret.createdAt)}`)],
  ]);
}

function changes({ to, csrf }: MemberVisit, { id, secrets }: ApiKey): Html {
  const path = `/integrations/api-keys/${id}`;
  return html`${
      secrets.length > 1 &&
      html`<p>Both secrets work. Once the newer one is in use everywhere, retire the older one.</p>`
    }
    <div class="actions">
      ${
        secrets.length > 1
          ? html`<a class="button" href="${to(`${path}/retire`)}">Retire the older secret</a>`
          : html`<form method="post" action="${to(`${path}/rotate`)}">
              ${csrf}<button class="quiet">Rotate: make a second secret</button>
            </form>`
      }
      <a class="button quiet" href="${to(`${path}/revoke`)}">Revoke the key</a>
    </div>`;
}
