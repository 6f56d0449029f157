import { confirmation } from '../../confirmation.ts';
import { html } from '../../html.ts';
import { shownOnce } from '../../once.ts';
import { definePage } from '../../page.ts';
import { findKey } from './find-key.ts';
import { about } from './key-words.ts';

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
      text: 'Whoever still uses the older secret is refused from the next request on. The newer one goes on working.',
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
      text: html`<code>${id}</code> and every secret of it are deleted. Whoever uses the key is refused from the next
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
