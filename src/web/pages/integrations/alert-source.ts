import { z } from 'zod';
import type { AlertSourceId } from '../../../contract/core/index.ts';
import { copyable, facts, field, moment, warning, confirmation } from '../../components.ts';
import { requireForm, shownOnce } from '../../forms.ts';
import { html } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import type { PageServices } from '../../services.ts';

const path = '/integrations/alerts';

/** One source; right after a secret was made also that, this once, with what to set up in the sender. */
export const alertSourcePage = definePage({
  path: `${path}/:id`,
  access: 'admin',
  async get(visit, services) {
    const source = await sourceOf(visit, services);
    const secret = shownOnce(services).take(visit, about(source.id));
    const own = `${path}/${source.id}`;
    return {
      title: source.name,
      body: html`${
          secret !== undefined &&
          html`${warning('Copy the secret now: it is not shown again, and nobody can look it up.')}
            <div class="card whole">
              <h2>Secret</h2>
              ${copyable('secret', secret)}
              <h2>What to set up in the sender</h2>
              ${copyable('instructions', services.alertSources.instructions(source, secret))}
            </div>`
        }
        ${facts([
          ['Address', html`<code>${source.url}</code>`],
          ['Kind', source.plugin],
          ['Added', moment(source.createdAt)],
        ])}
        <div class="actions">
          <a class="button quiet" href="${visit.to(`${own}/rotate`)}">Give it another secret</a>
          <a class="button quiet" href="${visit.to(`${own}/remove`)}">Remove the source</a>
        </div>
        <p><a href="${visit.to(path)}">All alert sources</a></p>`,
    };
  },
});

const rotateForm = z.object({ secret: z.string().trim().max(512, 'A secret has at most 512 characters.') });

export const rotateAlertSourcePage = definePage({
  path: `${path}/:id/rotate`,
  access: 'admin',
  async get(visit, services) {
    const { id, name } = await sourceOf(visit, services);
    return confirmation(visit, {
      title: `Another secret for “${name}”?`,
      text: 'The secret before is refused from the next request on.',
      fields: field({
        name: 'secret',
        label: 'Secret of the sender',
        hint: 'Only where the sender makes it, as PagerDuty does. Empty: one is made.',
        autocomplete: 'off',
        maxLength: 512,
      }),
      button: 'Replace the secret',
      action: `${path}/${id}/rotate`,
      back: `${path}/${id}`,
    });
  },
  async post(visit, form, services) {
    const { organization, actor } = visit;
    const { id } = await sourceOf(visit, services);
    const { secret: given } = requireForm(rotateForm, form);
    const { secret } = await services.alertSources.rotate(organization.id, id, actor, given || undefined);
    shownOnce(services).keep(visit, about(id), secret);
    return { redirect: `${path}/${id}` };
  },
});

export const removeAlertSourcePage = definePage({
  path: `${path}/:id/remove`,
  access: 'admin',
  async get(visit, services) {
    const { id, name } = await sourceOf(visit, services);
    return confirmation(visit, {
      title: `Remove “${name}”?`,
      text: 'What it sends is refused from the next request on. The alerts and incidents that came of it stay.',
      button: 'Remove the source',
      action: `${path}/${id}/remove`,
      back: `${path}/${id}`,
    });
  },
  async post(visit, _form, { alertSources }) {
    const { organization, actor, params } = visit;
    await alertSources.remove(organization.id, params['id'] ?? '', actor);
    return { redirect: `${path}?done=removed` };
  },
});

export function about(id: AlertSourceId): string {
  return `alert-source:${id}`;
}

function sourceOf({ organization, params }: MemberVisit, { alertSources }: PageServices) {
  return alertSources.find(organization.id, params['id'] ?? '');
}
