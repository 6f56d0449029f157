import { z } from 'zod';
import { scopes, type Scope } from '../../../contract/issuer/index.ts';
import { doneNotice, field, moment, table } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { parseForm } from '../../forms.ts';
import { shownOnce } from '../../shown-once.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { paged } from '../../paths.ts';
import type { PageServices } from '../../services.ts';
import { about, authorsOf, ending, keyScopeWords, lastUse } from './key-words.ts';

const createForm = z.object({
  name: z
    .string()
    .trim()
    .min(1, 'A key needs a name.')
    .max(100, 'A name has at most 100 characters.')
    .refine((name) => !/\p{Cc}/u.test(name) && name.isWellFormed(), 'A name has no control characters.'),
  scopes: z.array(z.enum(scopes, 'Choose from these.')).min(1, 'Choose at least one.').max(scopes.length),
});

/** The organization's API keys; a POST here makes one. */
export const keysPage = definePage({
  path: '/integrations/api-keys',
  access: 'admin',
  get: (visit, services) => keysView(visit, services, {}),

  async post(visit, form, services) {
    const { organization, actor } = visit;
    const typed = { name: form.get('name') ?? '', scopes: form.getAll('scopes') };
    const read = parseForm(createForm, form);
    if (!read.ok) return { ...(await keysView(visit, services, { ...typed, problems: read.problems })), status: 400 };
    let made: Awaited<ReturnType<PageServices['keys']['create']>>;
    try {
      made = await services.keys.create({ organizationId: organization.id, ...read.values, actor });
    } catch (error) {
      const { message, ...rest } = refusal(error);
      return { ...(await keysView(visit, services, { ...typed, message })), ...rest };
    }
    shownOnce(services).keep(visit, about(made.clientId), made.clientSecret);
    return { redirect: `/integrations/api-keys/${made.clientId}` };
  },
});

interface Typed {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly problems?: Readonly<Record<string, string>>;
  readonly message?: Html;
}

async function keysView(visit: MemberVisit, { keys, tokenUrl }: PageServices, typed: Typed): Promise<View> {
  const { organization, to, workspace } = visit;
  const authorOf = await authorsOf(workspace);
  const { shown, links } = paged(await keys.list(organization.id), visit, '/integrations/api-keys');
  return {
    title: 'API keys',
    body: html`${doneNotice(visit, { revoked: 'The key is revoked. Clients that use it are refused from now on.' })}
      <p>
        For scripts, CI jobs and agents that run unattended. A key does not expire; it is exchanged for access tokens
        that last an hour.
      </p>
      ${table({
        label: 'API keys',
        columns: ['Name', 'Client id', 'May', 'Secrets', 'Created', 'By', 'Last used'],
        rows: shown.map(({ id, name, scopes: granted, secrets, createdAt, createdBy, lastUsedAt, pausedAt }) => [
          html`<a href="${to(`/integrations/api-keys/${id}`)}"><bdi>${name}</bdi></a
            >${pausedAt && html` <span class="tag">paused</span>`}`,
          html`<code>${id}</code>`,
          granted.length === scopes.length
            ? 'Everything'
            : granted.map((scope) => html`<span class="tag">${scope}</span> `),
          secrets.map(({ lastFour }) => html`${ending(lastFour)} `),
          moment(createdAt),
          authorOf(createdBy),
          lastUse(lastUsedAt),
        ]),
        empty: 'There is no key yet.',
      })}
      ${links}
      ${tokenUrl === undefined ? html`<p class="soft">Keys cannot be exchanged here: the organization’s identity provider issues the tokens.</p>` : createSection(visit, typed)}`,
  };
}

function createSection({ to, csrf }: MemberVisit, { name, scopes: chosen, problems, message }: Typed): Html {
  const choice = (scope: Scope): Html => {
    const { title, detail } = keyScopeWords[scope];
    const checked = chosen?.includes(scope) === true;
    return html`<div class="choice">
      <input type="checkbox" id="scope-${scope}" name="scopes" value="${scope}" ${checked && html` checked`} />
      <label for="scope-${scope}">${title} <code>${scope}</code><small>${detail}</small></label>
    </div>`;
  };
  return html`<h2>Create a key</h2>
    ${message}
    <form method="post" action="${to('/integrations/api-keys')}" class="card">
      ${csrf}
      ${field({ name: 'name', label: 'Name', hint: 'What the key is for, such as “Nightly report”.', value: name, problem: problems?.['name'], maxLength: 100, autocomplete: 'off' })}
      <fieldset>
        <legend>What it may do</legend>
        ${problems?.['scopes'] !== undefined && html`<small class="problem">${problems['scopes']}</small>`}
        ${scopes.map(choice)}
      </fieldset>
      <button>Create key</button>
    </form>`;
}
