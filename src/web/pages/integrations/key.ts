import type { ApiKey } from '../../../contract/storage/index.ts';
import { copyable, moment, notice, warning } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { shownOnce } from '../../once.ts';
import { definePage } from '../../page.ts';
import type { MemberVisit } from '../../page.ts';
import { findKey } from './find-key.ts';
import { about, keyScopeWords } from './key-words.ts';
import { snippets } from './snippets.ts';

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
        ${secret !== undefined && secretSection(key, secret)} ${facts(key)} ${changes(visit, key)}
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

function facts({ id, scopes, createdAt, lastUsedAt, secrets }: ApiKey): Html {
  return html`<dl>
    <dt>Client id</dt>
    <dd><code>${id}</code></dd>
    <dt>May</dt>
    <dd>${scopes.map((scope) => keyScopeWords[scope].title).join(', ')}</dd>
    <dt>Created</dt>
    <dd>${moment(createdAt)}</dd>
    <dt>Last used</dt>
    <dd>${lastUsedAt ? moment(lastUsedAt) : 'Never'}</dd>
    <dt>Secrets</dt>
    <dd>${secrets.map((secret, index) => html`${index > 0 && ', '}made ${moment(secret.createdAt)}`)}</dd>
  </dl>`;
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
