import { z } from 'zod';
import { chatTitle, type Incident } from '../../../contract/storage/index.ts';
import { parseForm } from '../../forms.ts';
import { html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { findIncident } from '../incidents/words.ts';
import { authorOf, messageFields, messageForm, onceFor, type Typed } from './chat.ts';

const schema = z.object({ ...messageFields, incident: z.string().max(64).optional() });

export const newChatPage = definePage({
  path: '/chats/new',
  access: 'member',
  async get(visit) {
    return formView(visit, await incidentOf(visit, visit.search.get('incident')), {});
  },
  async post(visit, form, { engine, wake }) {
    const { workspace, user } = visit;
    const incident = await incidentOf(visit, form.get('incident'));
    const read = parseForm(schema, form);
    if (!read.ok) {
      return formView(visit, incident, { value: form.get('message') ?? '', problem: read.problems['message'] });
    }
    const { message, once } = read.values;
    const { chat } = await workspace.chats.start({
      title: chatTitle(message),
      message,
      author: authorOf(user),
      engine,
      idempotencyKey: onceFor(once, message),
      incidentId: incident?.id,
    });
    wake();
    return { redirect: `/chats/${chat.id}` };
  },
});

async function incidentOf({ workspace }: MemberVisit, key: string | null): Promise<Incident | undefined> {
  return key === null || key === '' ? undefined : findIncident(workspace, key);
}

function formView(visit: MemberVisit, incident: Incident | undefined, typed: Typed): View {
  const form = { action: '/chats/new', label: 'What should be investigated?', button: 'Ask the agent', ...typed };
  return {
    title: 'Ask the agent',
    ...(typed.value !== undefined && { status: 400 }),
    body: html`${incident && html`<p>About ${incident.key}: <bdi>${incident.title}</bdi>.</p>`}
      <p class="soft">
        Name services and a time range if you know them. Everybody of your organization can read the chat.
      </p>
      ${messageForm(visit, { ...form, incident: incident?.key })}`,
  };
}
