import type { Chat, ChatStatus, User, Workspace } from '../../../contract/storage/index.ts';
import { moment, table } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import type { PathTo } from '../../paths.ts';
import { isId, SightlineError } from '../../../contract/core/index.ts';

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
