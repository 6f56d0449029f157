import { z } from 'zod';
import type { AlertSources } from '../../../incidents/alerts/sources.ts';
import { confirmation, copyable, doneNotice, facts, field, moment, table, warning } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { parseForm, requireForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { copiedForm, shownMinutes, shownOnce } from '../../shown-once.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import type { AlertSourceId } from '../../../contract/core/index.ts';

const path = '/integrations/alerts';

const addForm = z.object({
  name: z.string().trim().min(1, 'A source needs a name.').max(100, 'A name has at most 100 characters.'),
  plugin: z.string().max(100),
});

/** Who sends alerts to the organization; a POST here adds one. */
export const alertsPage = definePage({
  path,
  access: 'admin',
  get: (visit, services) => view(visit, services, {}),

  async post(visit, form, services) {
    const { organization, actor } = visit;
    const typed = { name: form.get('name') ?? '', plugin: form.get('plugin') ?? '' };
    const read = parseForm(addForm, form);
    if (!read.ok) return { ...(await view(visit, services, { ...typed, problems: read.problems })), status: 400 };
    let added: Awaited<ReturnType<AlertSources['add']>>;
    try {
      added = await services.alertSources.add({ organizationId: organization.id, ...read.values, actor });
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...(await view(visit, services, { ...typed, message })), ...rest };
    }
    shownOnce(services).keep(visit, about(added.source.id), added.secret);
    return { redirect: `${path}/${added.source.id}` };
  },
});

interface Typed {
  readonly name?: string;
  readonly plugin?: string;
  readonly problems?: Readonly<Record<string, string>>;
  readonly message?: Html;
}

async function view(visit: MemberVisit, { alertSources }: PageServices, typed: Typed): Promise<View> {
  const { organization, to } = visit;
  const sources = await alertSources.list(organization.id);
  return {
    title: 'Alerts',
    body: html`${doneNotice(visit, { removed: 'The source is removed. What it sends is refused from now on.' })}
      <p>Alerts open incidents, which the agent investigates. Each sender has an address and a secret of its own.</p>
      ${table({
        label: 'Alert sources',
        columns: ['Name', 'Kind', 'Address', 'Added'],
        rows: sources.map(({ id, name, plugin, url, createdAt }) => [
          html`<a href="${to(`${path}/${id}`)}"><bdi>${name}</bdi></a>`,
          plugin,
          html`<code>${url}</code>`,
          moment(createdAt),
        ]),
        empty: 'Nobody sends alerts yet.',
      })}
      ${addSection(visit, alertSources.plugins, typed)}`,
  };
}

function addSection({ to, csrf }: MemberVisit, plugins: readonly string[], typed: Typed): Html {
  const { name, plugin: chosen, problems, message } = typed;
  return html`<h2>Add a source</h2>
    ${message}
    <form method="post" action="${to(path)}" class="card">
      ${csrf}
      ${field({ name: 'name', label: 'Name', hint: 'Which sender it is, such as “Alertmanager prod”.', value: name, problem: problems?.['name'], maxLength: 100, autocomplete: 'off' })}
      <div class="field">
        <label for="plugin">Kind</label>
        <select id="plugin" name="plugin">
          ${plugins.map((each) => html`<option value="${each}" ${each === chosen && html` selected`}>${each}</option>`)}
        </select>
      </div>
      <button>Add source</button>
    </form>`;
}

/** One source; right after a secret was made also that, this once, with what to set up in the sender. */
export const alertSourcePage = definePage({
  path: `${path}/:id`,
  access: 'admin',
  async get(visit, services) {
    const source = await sourceOf(visit, services);
    const secret = shownOnce(services).read(visit, about(source.id));
    const own = `${path}/${source.id}`;
    return {
      title: source.name,
      body: html`${
          secret !== undefined &&
          html`${warning(`Copy the secret now: this page shows it for ${shownMinutes} minutes, and nobody can look it up after that.`)}
            <div class="card whole">
              <h2>Secret</h2>
              ${copyable('secret', secret)}
              <h2>What to set up in the sender</h2>
              ${copyable('instructions', services.alertSources.instructions(source, secret))}
              ${copiedForm(visit, about(source.id), own)}
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

function about(id: AlertSourceId): string {
  return `alert-source:${id}`;
}

function sourceOf({ organization, params }: MemberVisit, { alertSources }: PageServices) {
  return alertSources.find(organization.id, params['id'] ?? '');
}
