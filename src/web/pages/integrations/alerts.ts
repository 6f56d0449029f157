import { z } from 'zod';
import type { AlertSources } from '../../../incidents/alerts/sources.ts';
import { field, moment, notice, table } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { parseForm, shownOnce } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import type { PageServices } from '../../services.ts';
import { about } from './alert-source.ts';

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
  const { organization, search, to } = visit;
  const sources = await alertSources.list(organization.id);
  return {
    title: 'Alerts',
    body: html`${search.get('done') === 'removed' && notice('The source is removed. What it sends is refused from now on.')}
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
      <label for="plugin">Kind</label>
      <select id="plugin" name="plugin">
        ${plugins.map((each) => html`<option value="${each}" ${each === chosen && html` selected`}>${each}</option>`)}
      </select>
      <button>Add source</button>
    </form>`;
}
