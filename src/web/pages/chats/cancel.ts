import type { Chat } from '../../../contract/storage/index.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { definePage } from '../../page.ts';
import type { MemberVisit } from '../../page.ts';
import { SightlineError } from '../../../contract/core/index.ts';
import { findChat } from './find.ts';
import { authorOf } from './message.ts';

/** Stops the agent in a chat. */
export const cancelPage = definePage({
  path: '/chats/:id/cancel',
  access: 'member',
  async post(visit, _form, { cancelChat }) {
    const chat = await findChat(visit.workspace, visit.params['id'] ?? '');
    if (!mayCancel(visit, chat)) {
      throw new SightlineError('forbidden', 'Only who started this chat, or an admin, may cancel it.');
    }
    await cancelChat(visit.workspace, chat.id, authorOf(visit.user));
    return { redirect: `/chats/${chat.id}` };
  },
});

/** A button for who may press it, while there is something to stop. */
export function cancelForm(visit: MemberVisit, chat: Chat): Html | false {
  const open = chat.status === 'running' || chat.status === 'waiting';
  return (
    open &&
    mayCancel(visit, chat) &&
    html`<form method="post" action="${visit.to(`/chats/${chat.id}/cancel`)}">
      ${visit.csrf}
      <p>
        <button class="danger">${chat.status === 'running' ? 'Stop the agent' : 'Close without an answer'}</button>
      </p>
    </form>`
  );
}

function mayCancel({ user, role }: MemberVisit, { createdBy }: Chat): boolean {
  return role === 'admin' || (createdBy.kind === 'user' && createdBy.id === user.id);
}
