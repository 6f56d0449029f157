import type { Chat, ChatStatus, User } from '../../../contract/storage/index.ts';
import { moment } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { PathTo } from '../../paths.ts';
import { table } from '../../table.ts';

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
