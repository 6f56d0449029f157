import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { Chat, ChatStatus, User, Workspace } from '../../../contract/storage/index.ts';
import { moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import { olderPath, type PathTo } from '../../paths.ts';

const perPage = 25;
const statuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const satisfies readonly ChatStatus[];

export const chatsPage = definePage({
  path: '/chats',
  access: 'member',
  async get(visit) {
    const { search, workspace, user, to } = visit;
    const status = statuses.find((known) => known === search.get('status'));
    const mine = search.get('mine') === 'yes';
    const cursor = search.get('after');
    const page = await workspace.chats.list({
      limit: perPage,
      statuses: status && [status],
      createdBy: mine ? user.id : undefined,
      cursor: cursor ?? undefined,
    });
    const filtered = status !== undefined || mine || cursor !== null;
    return {
      title: 'Chats',
      body: html`<p><a class="button" href="${to('/chats/new')}">Ask the agent</a></p>
        ${filterForm(visit, status, mine)}
        ${chatTable(page.items, { to, user, empty: filtered ? 'No chat matches.' : 'Nobody has asked the agent anything yet.' })}
        ${page.nextCursor !== undefined && html`<p><a class="button quiet" href="${olderPath(visit, '/chats', page.nextCursor)}">Older chats</a></p>`}`,
    };
  },
});

function filterForm({ to }: MemberVisit, status: ChatStatus | undefined, mine: boolean): Html {
  return html`<form method="get" action="${to('/chats')}" class="filter">
    <div>
      <label for="status">Status</label>
      <select id="status" name="status">
        <option value="">All</option>
        ${statuses.map((each) => html`<option value="${each}" ${each === status && html` selected`}>${chatStatusWords[each]}</option>`)}
      </select>
    </div>
    <div class="choice">
      <input type="checkbox" id="mine" name="mine" value="yes" ${mine && html` checked`} />
      <label for="mine">Started by me</label>
    </div>
    <button class="quiet">Show</button>
  </form>`;
}

/** One of another organization is answered like one that was never there. */
export async function findChat(workspace: Workspace, id: string): Promise<Chat> {
  const chat = isId('chat', id) ? await workspace.chats.get(id) : undefined;
  if (chat) return chat;
  throw new SightlineError('not_found', 'There is no such chat in this organization.');
}

export const chatStatusWords = {
  running: 'The agent is at work',
  waiting: 'Waits for an answer',
  completed: 'Answered',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const satisfies Record<ChatStatus, string>;

export function chatTable(
  chats: readonly Chat[],
  { to, user, empty }: { readonly to: PathTo; readonly user: User; readonly empty: string },
): Html {
  return table({
    label: 'Chats, the last changed first',
    columns: ['Chat', 'Status', 'Started by', 'Messages', 'Changed'],
    rows: chats.map((chat) => {
      const own = chat.createdBy.id === user.id;
      return [
        html`<a href="${to(`/chats/${chat.id}`)}"><bdi>${chat.title}</bdi></a>`,
        own && chat.status === 'waiting' ? html`<strong>Waits for your answer</strong>` : chatStatusWords[chat.status],
        own ? 'you' : html`<bdi>${chat.createdBy.name}</bdi>`,
        chat.lastSeq,
        moment(chat.updatedAt),
      ];
    }),
    empty,
  });
}
