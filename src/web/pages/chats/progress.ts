import { followChat, type Chat, type Workspace } from '../../../contract/storage/index.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import { definePage } from '../../page.ts';
import { findChat } from './list.ts';
import type { Behind } from './message.ts';

const mostSteps = 6;
const lookMs = 1_000;

interface Work extends Partial<Behind> {
  /** Another wherever it got on. */
  readonly version: string;
}

/** What the agent works on; `latest` is the chat's newest investigation that began. */
export function workOf(latest: Behind | undefined): Work {
  return latest?.investigation.status === 'running'
    ? { ...latest, version: `${latest.investigation.id} ${latest.steps.length} ${latest.investigation.doing}` }
    : { version: '' };
}

/** What it does, and what it saw so far. */
export function progressHtml({ investigation, steps = [] }: Work): Html {
  const doing = investigation?.doing;
  const shown = steps.slice(-mostSteps);
  return html`<div class="card">
    <p role="status"><strong>The agent is at work.</strong> ${doing !== undefined && renderInline(doing)}</p>
    ${
      shown.length > 0 &&
      html`<ul>
        ${shown.map(({ evidence_id: id, observation }) => html`<li>${renderInline(observation)} <small>(${id})</small></li>`)}
      </ul>`
    }
    ${steps.length > shown.length && html`<p class="soft">The last ${shown.length} of ${steps.length} steps.</p>`}
  </div>`;
}

/** Tells a page that shows the chat when to look again. */
export const chatNewsPage = definePage({
  path: '/chats/:id/news',
  access: 'member',
  async get({ workspace, params }, { serving }) {
    const chat = await findChat(workspace, params['id'] ?? '');
    return { news: (signal) => changes(workspace, chat, serving, signal) };
  },
});

async function* changes(
  workspace: Workspace,
  chat: Chat,
  serving: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let told = '';
  for await (const { status, lastSeq } of followChat(workspace.chats, chat, lookMs, signal)) {
    if (!serving()) return;
    const state = `${status} ${lastSeq} ${status === 'running' ? await progressOf(workspace, chat) : ''}`;
    if (state !== told) yield state;
    told = state;
    if (status !== 'running') return;
  }
}

async function progressOf({ investigations }: Workspace, { id }: Chat): Promise<string> {
  const running = (await investigations.ofChat(id)).find(({ status }) => status === 'running');
  return running === undefined ? '' : `${running.id} ${running.doing}`;
}
