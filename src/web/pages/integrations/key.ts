import type { ApiKeys } from '../../../identity/verify/api-keys.ts';
import type { ApiKey, KeySecret } from '../../../contract/storage/index.ts';
import { confirmation, copyable, doneNotice, facts, moment, table, warning } from '../../components.ts';
import { html, type Html, type Renderable } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { copiedForm, shownMinutes, shownOnce } from '../../shown-once.ts';
import { about, authorsOf, ending, findKey, keyScopeWords, lastUse, snippets } from './key-words.ts';

const list = '/integrations/api-keys';

export const rotatePage = definePage({
  path: `${list}/:id/rotate`,
  access: 'admin',
  async post(visit, _form, services) {
    const { id } = await findKey(visit.workspace, visit.params['id']);
    const { clientSecret } = await services.keys.rotate(id, visit.actor);
    shownOnce(services).keep(visit, about(id), clientSecret);
    return { redirect: `${list}/${id}` };
  },
});

interface Change {
  readonly action: keyof Pick<ApiKeys, 'retire' | 'discard' | 'pause' | 'revoke'>;
  readonly title: (name: string) => string;
  readonly text: (key: ApiKey) => Renderable;
  readonly button: string;
  /** Whether there is anything to change. */
  readonly fits?: (key: ApiKey) => boolean;
  readonly leadsTo: (id: string) => string;
}

/** A change that clients notice: it is asked about first. */
function changePage({ action, title, text, button, fits, leadsTo }: Change) {
  return definePage({
    path: `${list}/:id/${action}`,
    access: 'admin',
    async get(visit) {
      const key = await findKey(visit.workspace, visit.params['id']);
      const back = `${list}/${key.id}`;
      if (fits?.(key) === false) return { redirect: back };
      return confirmation(visit, {
        title: title(key.name),
        text: text(key),
        button,
        action: `${back}/${action}`,
        back,
      });
    },
    async post({ workspace, params, actor }, _form, { keys }) {
      const { id } = await findKey(workspace, params['id']);
      await keys[action](id, actor);
      return { redirect: leadsTo(id) };
    },
  });
}

export const retirePage = changePage({
  action: 'retire',
  title: (name) => `Retire the older secret of “${name}”?`,
  text: (key) =>
    html`Clients with the older secret are refused from the next request on. The newer one goes on working.
    ${bothUses(key)}`,
  button: 'Retire the older secret',
  fits: ({ secrets }) => secrets.length > 1,
  leadsTo: (id) => `${list}/${id}?done=retired`,
});

export const discardPage = changePage({
  action: 'discard',
  title: (name) => `Discard the newer secret of “${name}”?`,
  text: (key) =>
    html`For a new secret that was lost: clients that have it already are refused from the next request on. The older
    one goes on working. ${bothUses(key)}`,
  button: 'Discard the newer secret',
  fits: ({ secrets }) => secrets.length > 1,
  leadsTo: (id) => `${list}/${id}?done=discarded`,
});

export const pausePage = changePage({
  action: 'pause',
  title: (name) => `Pause “${name}”?`,
  text: () => 'Clients with the key are refused from the next request on, until you resume it. Its secrets are kept.',
  button: 'Pause the key',
  fits: ({ pausedAt }) => pausedAt === undefined,
  leadsTo: (id) => `${list}/${id}`,
});

export const resumePage = definePage({
  path: `${list}/:id/resume`,
  access: 'admin',
  async post({ workspace, params, actor }, _form, { keys }) {
    const { id } = await findKey(workspace, params['id']);
    await keys.resume(id, actor);
    return { redirect: `${list}/${id}` };
  },
});

export const revokePage = changePage({
  action: 'revoke',
  title: (name) => `Revoke “${name}”?`,
  text: ({ id }) =>
    html`<code>${id}</code> and every secret of it are deleted. Clients with the key are refused from the next request
      on. This cannot be undone.`,
  button: 'Revoke the key',
  leadsTo: () => `${list}?done=revoked`,
});

/** One key, with its newest secret until somebody says that it is copied. */
export const keyPage = definePage({
  path: `${list}/:id`,
  access: 'admin',
  async get(visit, services) {
    const key = await findKey(visit.workspace, visit.params['id']);
    const kept = shownOnce(services).read(visit, about(key.id));
    // It may have been discarded since.
    const secret = kept?.slice(-4) === key.secrets.at(-1)?.lastFour ? kept : undefined;
    const authorOf = await authorsOf(visit.workspace);
    const { clients, resource, tokenUrl } = services;
    return {
      title: key.name,
      body: html`${doneNotice(visit, done)}
        ${key.pausedAt && warning(html`The key is paused since ${moment(key.pausedAt)}: its clients are refused.`)}
        ${secret !== undefined && secretSection(visit, key, secret)}
        ${facts([
          ['Client id', html`<code>${key.id}</code>`],
          ['May', key.scopes.map((scope) => keyScopeWords[scope].title).join(', ')],
          ['Created', html`${moment(key.createdAt)} by ${authorOf(key.createdBy)}`],
          ['Last used', lastUse(key.lastUsedAt)],
        ])}
        ${changes(visit, key)}
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
        <p><a href="${visit.to(list)}">All API keys</a></p>`,
    };
  },
});

const done = {
  retired: 'The older secret is deleted. Its tokens are refused from now on.',
  discarded: 'The newer secret is deleted. The older one goes on working.',
};

function secretSection(visit: MemberVisit, key: ApiKey, secret: string): Html {
  return html`${warning(`Copy the secret now: this page shows it for ${shownMinutes} minutes, and nobody can look it up after that.`)}
    <div class="card whole">
      <h2>Client id</h2>
      ${copyable('client-id', key.id)}
      <h2>Client secret</h2>
      ${copyable('client-secret', secret)} ${copiedForm(visit, about(key.id), `${list}/${key.id}`)}
    </div>`;
}

function bothUses({ secrets: [older, newer] }: ApiKey): Html {
  const use = (name: string, secret: KeySecret | undefined) =>
    secret &&
    html`The ${name} one, ${ending(secret.lastFour)}, was
    ${secret.lastUsedAt ? html`last used ${moment(secret.lastUsedAt)}` : 'never used'}.`;
  return html`${use('older', older)} ${use('newer', newer)}`;
}

function changes({ to, csrf }: MemberVisit, { id, secrets, pausedAt }: ApiKey): Html {
  const link = (action: string, label: string) =>
    html`<a class="button quiet" href="${to(`${list}/${id}/${action}`)}">${label}</a>`;
  const form = (action: string, label: string) =>
    html`<form method="post" action="${to(`${list}/${id}/${action}`)}">
      ${csrf}<button class="quiet">${label}</button>
    </form>`;
  const two = secrets.length > 1;
  return html`<h2>Secrets</h2>
    ${table({
      label: 'Secrets',
      columns: ['Secret', 'Made', 'Last used'],
      rows: secrets.map(({ lastFour, createdAt, lastUsedAt }) => [
        ending(lastFour),
        moment(createdAt),
        lastUse(lastUsedAt),
      ]),
      empty: 'There is none.',
    })}
    ${
      two &&
      html`<p>
        ${!pausedAt && 'Both secrets work. '}Once the newer one is in use everywhere, retire the older one. If the newer
        one was lost, discard it and rotate again.
      </p>`
    }
    <div class="actions">
      ${two ? [link('retire', 'Retire the older secret'), ' ', link('discard', 'Discard the newer secret')] : form('rotate', 'Rotate: make a second secret')}
      ${pausedAt ? form('resume', 'Resume the key') : link('pause', 'Pause the key')}
      ${link('revoke', 'Revoke the key')}
    </div>`;
}
